"""Experiments compose the stages: one room, one frozen config dataclass each."""

from . import (
    alignment,
    bounds,
    eigenfunctions,
    flow,
    identities,
    kernel_limit,
    landscapes,
    lazy,
    learning_curves,
    linearization,
    losses,
    nads,
    pretrained,
    random_labels,
    rotation,
    self_reference,
    separation,
    sizes,
    spectrum,
    universality,
    wide_training,
)
from .base import Experiment as Experiment
from .base import Outcome as Outcome
from .base import draw as draw
from .base import perform as perform
from .eigenfunctions import DEMO as DEMO

EXPERIMENTS: dict[str, Experiment] = {
    "spectrum": spectrum.EXPERIMENT,
    "eigenfunctions": eigenfunctions.EXPERIMENT,
    "self_reference": self_reference.EXPERIMENT,
    "sizes": sizes.EXPERIMENT,
    "bounds": bounds.EXPERIMENT,
    "alignment": alignment.EXPERIMENT,
    "rotation": rotation.EXPERIMENT,
    "pretrained": pretrained.EXPERIMENT,
    "linearization": linearization.EXPERIMENT,
    "kernel_limit": kernel_limit.EXPERIMENT,
    "wide_training": wide_training.EXPERIMENT,
    "lazy": lazy.EXPERIMENT,
    "flow": flow.EXPERIMENT,
    "losses": losses.EXPERIMENT,
    "random_labels": random_labels.EXPERIMENT,
    "universality": universality.EXPERIMENT,
    "landscapes": landscapes.EXPERIMENT,
    "learning_curves": learning_curves.EXPERIMENT,
    "separation": separation.EXPERIMENT,
    "nads": nads.EXPERIMENT,
    "identities": identities.EXPERIMENT,
}
"""Every experiment, by the name that `tangentlab run` takes."""
