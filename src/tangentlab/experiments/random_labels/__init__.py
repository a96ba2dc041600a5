"""Random labels: fitted all the same, only later; and what weight decay changes."""

from ..base import Experiment
from . import computing, report
from .computing import RandomLabels as RandomLabels

EXPERIMENT = Experiment(config=RandomLabels, run=computing.run, report=report.report)
