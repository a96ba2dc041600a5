"""Alignment and energy concentration of the kernel along training."""

from ..base import Experiment
from . import computing, report
from .computing import Alignment as Alignment

EXPERIMENT = Experiment(Alignment, computing.run, report.report)
