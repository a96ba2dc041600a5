"""How the gap between network and linearization depends on the training-set size."""

from ..base import Experiment
from . import computing, report
from .computing import Sizes as Sizes

EXPERIMENT = Experiment(Sizes, computing.run, report.report, shares=True)
