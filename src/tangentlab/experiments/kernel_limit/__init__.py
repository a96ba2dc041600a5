"""Kernels of infinite width: their formulas, and how fast finite ones get there."""

from ..base import Experiment
from . import computing, report
from .computing import KernelLimit as KernelLimit

EXPERIMENT = Experiment(KernelLimit, computing.run, report.report)
