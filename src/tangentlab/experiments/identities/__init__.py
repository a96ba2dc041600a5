"""Exact statements of the paper, checked on real networks in float64."""

from ..base import Experiment
from . import computing, report
from .computing import Identities as Identities

EXPERIMENT = Experiment(config=Identities, run=computing.run, report=report.report)
