"""Rotation of the kernel after a network has learned one eigenfunction."""

from ..base import Experiment
from . import computing, report
from .computing import Rotation as Rotation

EXPERIMENT = Experiment(Rotation, computing.run, report.report, shares=True)
