r"""When is training lazy?

The output of a network that starts at 0 is multiplied by $\alpha$, and its loss divided
by $\alpha^2$. As $\alpha$ grows, weights move less while outputs move as before, and
training becomes that of the linearization. There are two ways to start at 0: subtract a
second copy of the network, or the network's own initial output.

Reference: Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
NeurIPS 2019, theorem 2.2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from ... import theory
from ..._checks import check_known
from ..._progress import progress_bar
from ..._types import Apply, Params, PRNGKey
from ...store import RunFolder
from ..stages.points import Points, draw_points

Start = Literal["doubled", "centered"]
ActivationName = Literal["tanh", "softplus", "relu"]
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
    "relu": jax.nn.relu,
}
"""The activations, by name."""


@dataclass(frozen=True)
class Lazy:
    """Follow gradient flows of a network with scaled output and its linearization."""

    scales: tuple[float, ...] = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
    """Factors of the output."""
    starts: tuple[Start, ...] = ("doubled", "centered")
    """How the output starts at 0: two copies subtracted, or its initial output."""
    activation: ActivationName = "tanh"
    """Activation of the hidden layer: tanh, softplus or relu. The theorem is about
    smooth ones."""
    width: int = 30
    """Hidden units of the network, or of each copy."""
    num_train: int = 10
    """Samples, on the unit sphere."""
    dim: int = 5
    """Dimension of their space."""
    horizon: float = 20.0
    """Time of the flows, learning rate x steps."""
    num_steps: int = 400
    """Steps of the integrator."""
    seeds: int = 10
    """Initializations; five are needed for a verdict."""
    num_criteria: int = 3
    """Initializations whose laziness criterion is computed as well; 0 for none."""
    seed: int = 0
    """Decides samples and initializations."""


def run(config: Lazy, folder: RunFolder, *, progress: bool) -> None:
    """Follow all flows and write their distances.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    total = 2 * len(config.starts)
    with (
        jax.enable_x64(True),
        progress_bar("Flows", total, show=progress, unit="parts") as advance,
    ):
        points = draw_points(
            "sphere",
            config.num_train,
            1,
            dim=config.dim,
            key=jax.random.key(config.seed),
            norm=1.0,
        )
        for start in config.starts:
            parts = {f"flows-{start}": _flows, f"criterion-{start}": _criteria}
            for name, compute in parts.items():
                if not folder.has_arrays(name):
                    folder.save_arrays(name, **compute(config, points, start))
                advance(1)
    for start in config.starts:
        saved = folder.arrays(f"flows-{start}") | folder.arrays(f"criterion-{start}")
        for number, scale in enumerate(config.scales):
            at = {name: values[:, number] for name, values in saved.items()}
            folder.log(start=start, scale=scale, **at)


def _flows(config: Lazy, points: Points, start: str) -> dict[str, np.ndarray]:
    """Distances of all seeds and scales, in one compiled program."""
    x, y = jnp.asarray(points.x), jnp.asarray(points.y)
    scales = jnp.asarray(config.scales, float)

    def one(key: PRNGKey) -> theory.LazyScaling:
        apply, params = _network(config, start, key)
        steps = {"horizon": config.horizon, "num_steps": config.num_steps}
        return theory.scaled_flows(apply, params, x, y, scales, **steps)

    flows = jax.jit(lambda keys: jax.lax.map(one, keys))(_keys(config))
    return {
        "weight_distance": np.asarray(flows.weight_distance),
        "weight_gap": np.asarray(flows.weight_gap),
        "output_gap": np.asarray(flows.output_gap) / _size(points.y),
    }


def _criteria(config: Lazy, points: Points, start: str) -> dict[str, np.ndarray]:
    """The criterion at initialization, of a few seeds."""
    found = []
    for key in _keys(config)[: config.num_criteria]:
        apply, params = _network(config, start, key)
        laziness = theory.laziness_of(apply, params, points.x, points.y, key=key)
        found.append(laziness.kappa / np.array(config.scales, float))
    return {"kappa": np.reshape(found, (len(found), len(config.scales)))}


def _keys(config: Lazy) -> Key[Array, " s"]:
    return jax.random.split(jax.random.key(config.seed + 1), config.seeds)


def _network(config: Lazy, start: str, key: PRNGKey) -> tuple[Apply, Params]:
    """A network whose output is 0 at its parameters."""
    outer, inner = jax.random.split(key)
    plain = theory.two_layer_both(ACTIVATIONS[config.activation])
    params = {
        "a": jax.random.normal(outer, (config.width,)),
        "W": jax.random.normal(inner, (config.width, config.dim)),
    }
    if start == "doubled":
        return theory.doubled(plain), (params, params)

    def centered(moved: Params, x):
        return plain(moved, x) - plain(params, x)

    return centered, params


def _size(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _check(config: Lazy) -> None:
    check_known("activation", config.activation, ACTIVATIONS)
    for start in config.starts:
        check_known("start", start, ("doubled", "centered"))
    if len(set(config.scales)) < 2 or min(config.scales) <= 0:
        raise ValueError(
            f"Slopes need two different positive scales at least, got {config.scales}."
        )
    if not 0 <= config.num_criteria <= config.seeds:
        raise ValueError(
            f"num_criteria must lie in 0..{config.seeds}, the number of seeds, got "
            f"{config.num_criteria}."
        )
