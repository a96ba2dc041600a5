"""Is the advantage of linearizations due to labels from their own kernel?"""

from ..base import Experiment
from . import computing, report
from .computing import SelfReference as SelfReference

EXPERIMENT = Experiment(SelfReference, computing.run, report.report, shares=True)
