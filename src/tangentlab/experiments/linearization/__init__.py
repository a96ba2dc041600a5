"""How far a network is from its linearization, and how far it can be at worst."""

from ..base import Experiment
from . import computing, report
from .computing import Linearization as Linearization

EXPERIMENT = Experiment(Linearization, computing.run, report.report)
