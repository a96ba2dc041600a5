"""A target that networks learn from fewer samples than their kernel needs."""

from ..base import Experiment
from . import computing, report
from .computing import Separation as Separation

EXPERIMENT = Experiment(config=Separation, run=computing.run, report=report.report)
