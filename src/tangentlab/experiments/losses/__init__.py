"""One kernel, two losses: where training ends depends on the loss."""

from ..base import Experiment
from . import computing, report
from .computing import Losses as Losses

EXPERIMENT = Experiment(Losses, computing.run, report.report)
