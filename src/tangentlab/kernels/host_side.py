"""Features of some examples on a CPU, chunk by chunk, as numpy arrays."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._types import AnyArray
from .features import Feature, Source, Values, factors, form, sites_of
from .host import Arrays, handed_over
from .panels import Share
from .pieces import assemble
from .planning import Plan


class HostSide(NamedTuple):
    """Examples along one side of a block, run through the network.

    Attributes:
        features: Arrays of each feature of a pass.
        awake: Features taken for zero that are not, on one of these examples.
    """

    features: list[Arrays]
    awake: frozenset[Feature]


def host_side(
    source: Source,
    values: Values,
    plan: Plan,
    features: tuple[Feature, ...],
    x: Sequence[AnyArray],
) -> HostSide:
    """Run the network on the examples along one side of a block.

    Args:
        source: The network.
        values: Values of the parameters.
        plan: What to do.
        features: Those of a pass of the plan.
        x: Arrays of the examples.

    Returns:
        Their features, and what else was not zero.
    """
    idle, n = _idle_sites(source, plan), len(x[0])
    function, chunk = _compiled(source, features, idle), min(plan.chunk, n)
    chunks: list[list[list[np.ndarray]]] = []
    alive = np.zeros(len(idle), bool)
    for start in range(0, n, chunk):
        # The last chunk is moved back to be full; its first examples are done twice.
        at = min(start, n - chunk)
        batch = [handed_over(np.asarray(a)[at : at + chunk]) for a in x]
        made, seen = function(values, batch)
        chunks.append([[_as_numpy(a)[start - at :] for a in arrays] for arrays in made])
        alive |= np.array(seen, bool)
    found = [
        tuple(assemble(a, rows=len(parts[0]) == 1) for a in zip(*parts, strict=True))
        for parts in zip(*chunks, strict=True)
    ]
    sites = {site for site, one in zip(idle, alive, strict=True) if one}
    awake = [f for f in plan.idle if sites.intersection(sites_of(source, f))]
    return HostSide(found, frozenset(awake))


def compile_sides(
    source: Source, values: Values, plan: Plan, x: Sequence[AnyArray]
) -> None:
    """Compile what `host_side` runs for each pass of a plan.

    Args:
        source: The network.
        values: Values of the parameters.
        plan: What to do.
        x: Arrays of all examples.
    """
    batch = [np.asarray(a)[: min(plan.chunk, plan.panel)] for a in x]
    for features in plan.passes:  # which JAX remembers when it is called
        compiled = _compiled(source, features, _idle_sites(source, plan))
        compiled.lower(values, batch).compile()


def sharing_features(share: Share) -> Callable[..., HostSide]:
    """Share sides of blocks of which all features are computed.

    Args:
        share: Has features that others have computed.

    Returns:
        The same, for sides.
    """

    def shared(side: int, panel: slice, make: Callable[[], HostSide]) -> HostSide:
        return HostSide(share(side, panel, lambda: make().features), frozenset())

    return shared


@lru_cache(maxsize=128)
def _compiled(
    source: Source, features: tuple[Feature, ...], idle: tuple[int, ...]
) -> Any:
    """Features of a batch, and at which of the idle sites there is a delta."""

    def compute(values: Values, x: Sequence[Array]) -> Any:
        made = factors(source, values, x)
        seen = [jnp.any(made.deltas[site] != 0) for site in idle]
        return [form(source, feature, values, made) for feature in features], seen

    return jax.jit(compute)


def _idle_sites(source: Source, plan: Plan) -> tuple[int, ...]:
    found = {site for f in plan.idle for site in sites_of(source, f)}
    return tuple(sorted(found))


def _as_numpy(array: Array) -> np.ndarray:
    wide = (
        array if array.dtype in (jnp.float32, jnp.float64) else array.astype("float32")
    )
    return np.asarray(wide)
