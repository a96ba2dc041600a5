"""Accuracy against eigenfunction index, the network and its linearization."""

from ..base import Experiment
from .computing import DEMO as DEMO
from .computing import Eigenfunctions as Eigenfunctions
from .computing import run
from .report import report

EXPERIMENT = Experiment(config=Eigenfunctions, run=run, report=report)
