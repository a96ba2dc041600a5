"""Test error predicted from spectrum and target, and test error against width."""

from ..base import Experiment
from . import computing, report
from .computing import LearningCurves as LearningCurves

EXPERIMENT = Experiment(config=LearningCurves, run=computing.run, report=report.report)
