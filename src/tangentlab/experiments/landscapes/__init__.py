"""Small losses with bad minima and saddles, and how gradient descent fares there."""

from ..base import Experiment
from . import computing, report
from .computing import Landscapes as Landscapes

EXPERIMENT = Experiment(config=Landscapes, run=computing.run, report=report.report)
