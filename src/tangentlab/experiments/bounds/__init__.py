"""Bounds on the test error against the test error, for true and random labels."""

from ..base import Experiment
from . import computing, report
from .computing import Bounds as Bounds

EXPERIMENT = Experiment(config=Bounds, run=computing.run, report=report.report)
