"""Networks of growing width, trained beside regression with their kernels."""

from ..base import Experiment
from . import computing, report
from .computing import WideTraining as WideTraining

EXPERIMENT = Experiment(WideTraining, computing.run, report.report)
