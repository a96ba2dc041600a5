"""Lazy training: flows of a network with scaled output, and its linearization's."""

from ..base import Experiment
from . import computing, report
from .computing import Lazy as Lazy

EXPERIMENT = Experiment(Lazy, computing.run, report.report)
