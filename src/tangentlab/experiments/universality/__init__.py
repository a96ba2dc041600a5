"""What a wide ReLU network's kernel can fit: bias, rank, and polynomial targets."""

from ..base import Experiment
from . import computing, report
from .computing import Universality as Universality

EXPERIMENT = Experiment(config=Universality, run=computing.run, report=report.report)
