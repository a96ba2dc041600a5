r"""Where does gradient descent end, and how does it get there?

The linearization of a network is trained in the space of its weights: by many steps of
gradient descent, and by an ordinary differential equation. Neither knows the kernel.
Beside them are closed forms of the kernel alone: the limit, its norm, the flow with the
exponent $tK/n$ and with the lecture's $tK$, ridge regression as the ridge goes to 0,
and the mean of a Gaussian process. The network itself flows, too, and its loss is
compared with $L(0) \exp(-2 t \min_s \lambda_{\min}(K_s) / n)$.
"""

from dataclasses import dataclass

import jax
import numpy as np

from ..._progress import progress_bar
from ...store import RunFolder
from ..stages.points import draw_points
from .closed_forms import compare
from .weight_space import WeightSpace


@dataclass(frozen=True)
class Flow:
    """Compare gradient flow and descent of a linearized network with closed forms."""

    width: int = 256
    """Hidden units of the network, of tanh."""
    narrow_width: int = 32
    """Hidden units of the network whose own loss is followed: few, so that its kernel
    moves."""
    num_train: int = 10
    """Training samples, on a sphere."""
    num_test: int = 20
    """Test samples."""
    dim: int = 10
    """Dimension of their space."""
    num_steps: int = 5000
    """Steps of gradient descent, at half the largest stable rate."""
    num_times: int = 25
    """Times at which flows are compared."""
    num_ridges: int = 11
    """Ridges, from the largest eigenvalue of the kernel down, a tenth each."""
    seeds: int = 5
    """Initializations."""
    seed: int = 0
    """Decides samples and initializations."""


def run(config: Flow, folder: RunFolder, *, progress: bool) -> None:
    """Train in weight space, evaluate closed forms, and write both.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    points = draw_points(
        "sphere",
        config.num_train,
        config.num_test,
        dim=config.dim,
        key=jax.random.key(config.seed),
    )
    keys = jax.random.split(jax.random.key(config.seed + 1), (config.seeds, 2))
    with (
        jax.enable_x64(True),
        progress_bar("Seeds", config.seeds, show=progress, unit="seeds") as advance,
    ):
        wide = WeightSpace(config.width, points)
        narrow = WeightSpace(config.narrow_width, points)
        for number, (key, other) in enumerate(keys):
            if not folder.has_arrays(f"closed-{number}"):
                found = compare(
                    wide, key, config.num_steps, config.num_times, config.num_ridges
                )
                folder.save_arrays(f"closed-{number}", **found)
            if not folder.has_arrays(f"network-{number}"):
                found = narrow.follow_network(other, config.num_times)
                folder.save_arrays(f"network-{number}", **found)
            advance(1)
    for number in range(config.seeds):
        saved = folder.arrays(f"closed-{number}")
        errors = {name: np.max(saved[name]) for name in saved if "error" in name}
        folder.log(seed=number, **errors)


def _check(config: Flow) -> None:
    for name in ("num_train", "num_test", "num_steps", "num_times", "seeds"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(config, name)}.")
    if config.num_ridges < 2:
        raise ValueError(f"num_ridges must be at least 2, got {config.num_ridges}.")
