"""Neural anisotropy directions, their pictures, and learning data along them."""

from ..base import Experiment
from . import computing, report
from .computing import NadStudy as NadStudy

EXPERIMENT = Experiment(config=NadStudy, run=computing.run, report=report.report)
