r"""Squared norms of gradients summed with weights, $\|J^\top v\|^2 = v^\top K v$.

No two samples have to meet, so there is no Gram matrix. Samples stream by in chunks,
and targets in blocks: a vector like the parameters is kept for each target of a block,
never for all of them.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from .._checks import batch_size
from .._linalg import take
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels.energies import energies_by_slabs
from ..kernels.features import Feature, Whole
from ..kernels.matrix_free.gradients import features_for, through_gradients
from ..kernels.matrix_free.lanes import Lanes, columns_of, windows
from ..kernels.matrix_free.routes import Cut, Route, cut, refusal
from ..kernels.matrix_free.tangents import Maps, through_network
from ..kernels.planning import free_memory
from ..kernels.preparing import Prepared, prepare, result_dtype
from ..kernels.request import Request
from ..kernels.verifying import verify

_FEW = 2  # targets, up to which a backward pass for each of them is cheaper


class _Job(NamedTuple):
    """Sums to compute.

    Attributes:
        prepared: The network and the samples.
        lanes: The targets, one vector each, or one for each target and output.
        route: How gradients are summed.
        cut: How many samples and vectors at once.
        leaves: Which leaf of the parameters each array of a sum belongs to.
    """

    prepared: Prepared
    lanes: Lanes
    route: Route
    cut: Cut
    leaves: tuple[int, ...]


def energies(
    apply: Apply,
    params: Params,
    x: Inputs,
    v: Float[AnyArray, "n k"],
    request: Request,
) -> Float[AnyArray, " k"]:
    r"""$v^\top K v$ for each target, by whichever way is the faster one.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        v: Targets at the samples, as columns.
        request: Options of the kernel.

    Returns:
        One number for each target.
    """
    whole = slice(0, batch_size("x", x))
    found = energies_by_slabs(apply, params, x, v, [whole], request)
    if found is not None:
        return found[0]
    return energies_by_leaf(apply, params, x, v, request).sum(axis=0)


def energies_of_groups(
    apply: Apply,
    params: Params,
    x: Inputs,
    v: Float[AnyArray, "n k"],
    groups: Sequence[slice],
    request: Request,
) -> Float[np.ndarray, "g k"]:
    r"""$v^\top K v$ on all samples, and with targets cut to groups of them.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        v: Targets at the samples, as columns.
        groups: Runs of samples that cover all of them, once each.
        request: Options of the kernel.

    Returns:
        A row for all samples, and one for each group.
    """
    found = energies_by_slabs(apply, params, x, v, groups, request)
    if found is not None:
        return found
    parts = [(x, v), *((take(x, rows), v[rows]) for rows in groups)]
    return np.stack(
        [energies_by_leaf(apply, params, *part, request).sum(axis=0) for part in parts]
    )


def energies_by_leaf(
    apply: Apply,
    params: Params,
    x: Inputs,
    v: Float[AnyArray, "n k"],
    request: Request,
) -> Float[AnyArray, "l k"]:
    r"""Each parameter's part of $v^\top K v$, for each target.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        v: Targets at the samples, as columns.
        request: Options of the kernel.

    Returns:
        A row for each leaf of `params`, zero for buffers; rows add up to
        $v^\top K v$. In float64 where values are known.

    Raises:
        ValueError: If `apply` breaks the contract, a gradient is not finite, or memory
            is too small.
    """
    with request.context():
        prepared = prepare(apply, params, x, None, request, full=False, apart=True)
        columns = columns_of(v, prepared.problem)
        traced = prepared.traced or isinstance(columns, Tracer)
        prepared = prepared._replace(traced=traced)
        trees = jax.tree.structure(params), jax.tree.structure(x)
        picked = prepared.network.differentiated
        maps = Maps(apply, request.outputs, *trees, picked)
        job = _job(prepared, columns, maps, request.memory)
        found = _energies(job)
        if not prepared.traced and not np.isfinite(found).all():
            raise ValueError(
                "A gradient is NaN or infinite, or a target is: look at the values of "
                "`targets`, the parameters and the samples, and for a derivative that "
                "does not exist there."
            )
        return _rows_of_leaves(job, found)


def _job(prepared: Prepared, columns: AnyArray, maps: Maps, memory: int | None) -> _Job:
    """Choose a route; where values are not known everything runs at once."""
    problem, traced = prepared.problem, prepared.traced
    room = free_memory() if memory is None else memory

    def fit(lanes: Lanes, route: Route, leaves: tuple[int, ...]) -> _Job | None:
        whole = Cut(lanes.num, problem.n)
        found = whole if traced else cut(route, problem, lanes.num, room)
        return None if found is None else _Job(prepared, lanes, route, found, leaves)

    if columns.shape[1] > _FEW and prepared.features:
        features = features_for(prepared)
        leaves = tuple(map(_leaf_of, features))
        job = fit(Lanes(columns, 0), through_gradients(prepared), leaves)
        if job is not None and job.cut.width > _FEW:
            if not traced:
                verify(prepared.network, features, prepared.x_1)
            return job
    lanes, route = Lanes(columns, problem.num_outputs), through_network(maps, prepared)
    job = fit(lanes, route, prepared.network.differentiated)
    if job is None:
        raise ValueError(refusal(route, problem, lanes.num, room))
    return job


def _leaf_of(feature: Feature) -> int:
    """The one leaf that a feature belongs to."""
    return feature.leaves[0] if isinstance(feature, Whole) else feature.piece.leaf


def _energies(job: _Job) -> Any:
    """Squared norms, a row for each array of the sums and a column for each target."""
    xp, parts = _namespace(job), []
    for window in windows(job.lanes.num, job.cut.width):
        norms = [_wide(job, _squared_norms(a)) for a in _summed(job, window.items)]
        parts.append(xp.stack(norms)[:, window.done :])
    found = xp.concatenate(parts, axis=1)
    if job.lanes.spread:
        return job.lanes.collect(found)
    return found / job.prepared.problem.num_outputs


def _summed(job: _Job, vectors: slice) -> list[Array]:
    """Gradients of all samples, summed with the weights of some targets."""
    shapes = [(vectors.stop - vectors.start, *shape) for shape in job.route.shapes]
    total = [jnp.zeros(shape, result_dtype(job.prepared.problem)) for shape in shapes]
    for window in windows(job.prepared.problem.n, job.cut.chunk):
        counted = np.arange(window.done + window.fresh) >= window.done
        weights = job.lanes.weights(vectors, window.items, counted)
        x = [jnp.asarray(a[window.items]) for a in job.prepared.x_1]
        total = job.route.pull(total, x, weights)
        if not job.prepared.traced:
            jax.block_until_ready(total)
    return total


@jax.jit
def _squared_norms(vectors: Float[Array, "k ..."]) -> Float[Array, " k"]:
    flat = vectors.reshape(len(vectors), -1)
    return (flat * flat).sum(axis=1)


def _rows_of_leaves(job: _Job, found: Any) -> Any:
    xp = _namespace(job)
    rows = [xp.zeros_like(found[0]) for _ in job.prepared.network.values.leaves]
    for leaf, energy in zip(job.leaves, found, strict=True):
        rows[leaf] = rows[leaf] + energy
    return xp.stack(rows)


def _namespace(job: _Job) -> ModuleType:
    return jnp if job.prepared.traced else np


def _wide(job: _Job, energies: Array) -> AnyArray:
    """What was summed in the network's precision adds up in float64."""
    return energies if job.prepared.traced else np.asarray(energies, np.float64)
