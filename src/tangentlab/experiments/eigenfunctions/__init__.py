"""Accuracy against eigenfunction index, the network and its linearization."""

from ..base import Experiment
from . import computing, report
from .computing import DEMO as DEMO
from .computing import Eigenfunctions as Eigenfunctions

EXPERIMENT = Experiment(Eigenfunctions, computing.run, report.report, shares=True)
