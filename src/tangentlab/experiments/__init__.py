"""Experiments compose the stages: one room, one frozen config dataclass each."""

from . import eigenfunctions
from .base import Experiment as Experiment
from .base import Outcome as Outcome
from .base import draw as draw
from .base import perform as perform
from .eigenfunctions import DEMO as DEMO

EXPERIMENTS: dict[str, Experiment] = {
    "eigenfunctions": eigenfunctions.EXPERIMENT,
}
"""Every experiment, by the name that `tangentlab run` takes."""
