"""Experiments compose the stages: one file, one frozen config dataclass each."""

from . import eigenfunctions, eigenfunctions_report
from .base import Experiment as Experiment
from .base import Outcome as Outcome
from .base import draw as draw
from .base import perform as perform
from .eigenfunctions import DEMO as DEMO

EXPERIMENTS: dict[str, Experiment] = {
    "eigenfunctions": Experiment(
        config=eigenfunctions.Eigenfunctions,
        run=eigenfunctions.run,
        report=eigenfunctions_report.report,
    ),
}
"""Every experiment, by the name that `tangentlab run` takes."""
