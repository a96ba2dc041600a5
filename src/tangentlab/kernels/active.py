"""Which features are exactly zero: at initialization, often nearly all.

The published ResNet18 has no gradient in 98 % of its parameters at initialization,
because the last scale of each residual branch is zero. A few examples tell; what is
zero there is not computed, only looked at on all others, and computed after all if it
was not zero on one of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from .._types import AnyArray
from .accelerated.compiling import call
from .accelerated.filling import compiled_factors
from .engine import Job
from .features import Feature, Source, Values, factors, sites_of
from .packing import feature_bytes
from .planning import Plan, backend, plan
from .preparing import Prepared
from .reading.backward import Factors

_LOOKED_AT = 64  # examples, on a CPU, where more than the first chunk is little work
_LARGE = 2**22  # bytes of all features of an example from which on a look pays

Replan = Callable[[Sequence[Feature], int], Plan]
"""A plan for some features that fits so many bytes."""


def without_idle(job: Job, prepared: Prepared) -> Job:
    """Plan a computation again without what is zero.

    Args:
        job: The computation.
        prepared: What it computes.

    Returns:
        The same, with fewer features if some are zero on a few examples, and it pays.
    """
    if backend() == "gpu":
        return _on_accelerator(job, prepared)

    def replan(features: Sequence[Feature], memory: int) -> Plan:
        return plan(job.source, features, job.problem, memory)

    return job._replace(plan=skip_idle_on_host(job.plan, prepared, replan))


def skip_idle_on_host(made: Plan, prepared: Prepared, replan: Replan) -> Plan:
    """Plan a computation on a CPU again without what is zero.

    Half of the memory is left to what may turn out not to be zero after all.

    Args:
        made: The plan that computes all features.
        prepared: What is to be computed.
        replan: Plans with fewer features, and less memory.

    Returns:
        A plan with fewer features if some are zero on a few examples, and it pays.
    """
    source, problem = prepared.network.source, prepared.problem
    features = prepared.features
    whole = len(made.passes) == 1 and made.panel >= max(problem.n, problem.m)
    size = sum(feature_bytes(source, feature, problem) for feature in features)
    if whole or size < _LARGE:
        return made
    values = prepared.network.values
    alive = _alive_on_some(source, values, prepared.x_1, made.chunk)
    active, idle = _apart(source, features, alive)
    if not idle or not active:
        return made
    try:
        fresh = replan(active, made.memory // 2)
        side = min(fresh.panel, problem.n), min(fresh.panel, problem.m)
        block = replace(problem, n=side[0], m=side[1], symmetric=False)
        plan(source, idle, block, fresh.needed)  # should they all wake up
    except ValueError:  # there is too little room for that
        return made
    return replace(fresh, idle=tuple(idle))


def _on_accelerator(job: Job, prepared: Prepared) -> Job:
    made, problem = job.plan, job.problem
    if len(made.passes) == 1 and problem.n <= made.chunk:
        return job  # a look would cost as much as the whole
    batch = [jnp.asarray(a[: made.chunk]) for a in job.x_1]
    alive = np.asarray(_nonzero(call(compiled_factors(job.source), job.values, batch)))
    # Whole features, not slices that this plan cut: the next one may cut otherwise.
    active, idle = _apart(job.source, prepared.features, alive)
    if not idle or not active:
        return job
    fresh = plan(job.source, active, problem, made.memory)
    return job._replace(plan=replace(fresh, idle=tuple(idle)))


def _apart(
    source: Source, features: Sequence[Feature], alive: np.ndarray
) -> tuple[list[Feature], list[Feature]]:
    """Features with a site that is alive, and those without."""
    idle = [f for f in features if not alive[list(sites_of(source, f))].any()]
    return [f for f in features if f not in idle], idle


def _alive_on_some(
    source: Source, values: Values, x: Sequence[AnyArray], chunk: int
) -> np.ndarray:
    """Which sites have a delta on some examples, taken from all over the samples."""
    n = len(x[0])
    rows = np.unique(np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(int))
    look, alive = _looking(source), np.zeros(len(source.sites), bool)
    for start in range(0, len(rows), chunk):
        some = np.resize(rows[start:], min(chunk, n))  # the last is filled up again
        alive |= np.asarray(look(values, [np.asarray(a)[some] for a in x]))
    return alive


@lru_cache(maxsize=32)
def _looking(source: Source) -> Any:
    return jax.jit(lambda values, x: _nonzero(factors(source, values, x)))


@jax.jit
def _nonzero(made: Factors) -> Bool[Array, " sites"]:
    return jnp.stack([jnp.any(delta != 0) for delta in made.deltas])
