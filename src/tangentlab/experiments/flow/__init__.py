"""Gradient flow and descent beside their closed forms."""

from ..base import Experiment
from . import computing, report
from .computing import Flow as Flow

EXPERIMENT = Experiment(Flow, computing.run, report.report)
