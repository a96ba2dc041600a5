r"""How far is a network from its linearization?

Four measurements: the identity by which a ReLU network's linearization is a plain inner
product; the lectures' bound for smooth activations and an adversary that looks for
weights which break it; the same for ReLU, where the worst weights of a ball are known
exactly; and how good the linearization of ordinary networks is along the direction in
which gradient descent sets out, against width, depth and distance.

Reference: Telgarsky, "Deep learning theory lecture notes", section 4.
"""

from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np

from ..._checks import check_known
from ..._progress import progress_bar
from ...store import RunFolder
from .adversaries import SMOOTH, largest_relu_gaps, search_smooth
from .identities import identity_errors
from .quality import relative_gaps

Smooth = Literal["tanh", "sine", "softplus"]


@dataclass(frozen=True)
class Linearization:
    """Measure the distance between networks and their linearizations."""

    widths: tuple[int, ...] = (64, 128, 256, 512, 1024)
    """Widths of the ordinary networks."""
    depths: tuple[int, ...] = (1, 2, 4)
    """Their hidden layers, of tanh."""
    distances: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    """How far their parameters move; inputs have the norm of the root of their
    dimension and weights are of order 1, so that 1 is what fitting takes."""
    seeds: int = 10
    """Initializations of each; five are needed for a verdict."""
    num_samples: int = 10
    """Samples."""
    dim: int = 10
    """Their dimension."""
    smooth: tuple[Smooth, ...] = ("tanh", "sine")
    """Activations of the smooth bound: tanh, sine, softplus."""
    smooth_widths: tuple[int, ...] = (16, 128, 1024)
    """Widths at which an adversary looks for weights that break it."""
    smooth_radii: tuple[float, ...] = (0.1, 1.0, 10.0)
    """How far the adversary may go."""
    num_starts: int = 4
    """Points from which the adversary sets out, for each initialization."""
    num_steps: int = 100
    """Its steps from each."""
    relu_widths: tuple[int, ...] = (1000, 3000, 10_000, 30_000, 100_000, 300_000)
    """Widths of the ReLU bound, for which the worst weights are known exactly."""
    relu_draws: int = 200
    """Initializations of each; 73 are the fewest that can tell a violation rate below
    5 %."""
    radius: float = 1.0
    """How far the ReLU network's weights may move."""
    failure: float = 0.05
    """Probability with which the ReLU bound may fail."""
    seed: int = 0
    """Decides all draws."""


def run(config: Linearization, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    parts = _parts(config)
    with (
        jax.enable_x64(True),
        progress_bar("Parts", len(parts), show=progress, unit="parts") as advance,
    ):
        for name, (compute, *arguments) in parts.items():
            if not folder.has_arrays(name):
                folder.save_arrays(name, **compute(config, *arguments))
            advance(1)
    for name in parts:
        saved = folder.arrays(name)
        folder.log(part=name, **{key: np.max(values) for key, values in saved.items()})


def _parts(config: Linearization) -> dict[str, tuple[Any, ...]]:
    """What is computed, by the name of its arrays."""
    parts: dict[str, tuple[Any, ...]] = {"identities": (_identities,)}
    parts |= {f"relu-{width}": (_relu, width) for width in config.relu_widths}
    for name in config.smooth:
        for width in config.smooth_widths:
            parts[f"{name}-{width}"] = (_smooth, name, width)
    for depth in config.depths:
        for width in config.widths:
            parts[f"quality-{depth}-{width}"] = (_quality, depth, width)
    return parts


def _identities(config: Linearization) -> dict[str, np.ndarray]:
    key = jax.random.key(config.seed)
    return identity_errors(config.num_samples, config.dim, key)


def _relu(config: Linearization, width: int) -> dict[str, np.ndarray]:
    draws, seed = config.relu_draws, (config.seed, width)
    return {"gaps": largest_relu_gaps(width, config.radius, draws, seed)}


def _smooth(config: Linearization, name: str, width: int) -> dict[str, np.ndarray]:
    keys = jax.random.split(jax.random.key(config.seed + width), config.seeds)
    gaps = [
        search_smooth(
            name,
            width,
            config.dim,
            radius,
            keys,
            num_starts=config.num_starts,
            num_steps=config.num_steps,
        )
        for radius in config.smooth_radii
    ]
    return {"gaps": np.stack(gaps, axis=1)}


def _quality(config: Linearization, depth: int, width: int) -> dict[str, np.ndarray]:
    keys = jax.random.split(jax.random.key(config.seed + 1), config.seeds)
    gaps = relative_gaps(
        depth, width, config.num_samples, config.dim, config.distances, keys
    )
    return {"gaps": gaps}


def _check(config: Linearization) -> None:
    for name in config.smooth:
        check_known("smooth activation", name, SMOOTH)
    for name in ("widths", "relu_widths"):
        if len(set(getattr(config, name))) < 2:
            raise ValueError(
                f"A slope needs two different {name} at least, got "
                f"{getattr(config, name)}."
            )
    positive = (*config.distances, *config.smooth_radii, config.radius)
    if min(positive) <= 0 or not 0 < config.failure < 1:
        raise ValueError(
            "Distances and radii must be positive and failure lie between 0 and 1, got "
            f"{config.distances}, {config.smooth_radii}, {config.radius} and "
            f"{config.failure}."
        )
