"""The spectrum of a network's kernel, and what it says about labels. No training."""

from ..base import Experiment
from . import computing, report
from .computing import SpectrumStudy as SpectrumStudy

EXPERIMENT = Experiment(SpectrumStudy, computing.run, report.report, shares=True)
