"""A network, its linearization, and the linear model of its trained kernel."""

from ..base import Experiment
from . import computing, report
from .computing import Pretrained as Pretrained

EXPERIMENT = Experiment(Pretrained, computing.run, report.report, shares=True)
