r"""Energies $v^\top K v$ of many targets by the slabs of an accelerator.

Slabs hold all examples. Where they do not fit memory, or there are few targets, the
streams of `matrix_free` are the way; this room says so by its answer.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from .._progress import progress_bar
from .._types import AnyArray, Apply, Inputs, Params
from .accelerated.energies import energies
from .accelerated.warming import compile_network
from .active import without_idle
from .engine import Job
from .features import Feature, Whole, all_rows
from .forms import cost
from .matrix_free.lanes import columns_of, windows
from .planning import backend, free_memory
from .preparing import Prepared, job_of, prepare, result_dtype
from .request import Request
from .verifying import verify

_FEW = 8  # targets, up to which forming gradients costs more than they do
_MOST = 4096  # targets at once
_WIDEST = 2**14  # columns of a slab
_FORMED = 2**32  # bytes of rows that are formed and not yet in slabs, at most
_COPIES = 3  # of them: the rows of each feature, side by side, and as operands


def energies_by_slabs(
    apply: Apply,
    params: Params,
    x: Inputs,
    v: AnyArray,
    groups: Sequence[slice],
    request: Request,
) -> np.ndarray | None:
    r"""$v^\top K v$ for each target, on all samples and on groups of them.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        v: Targets at the samples, as columns.
        groups: Runs of samples that cover all of them, once each.
        request: Options of the kernel.

    Returns:
        Energies of all samples, then of each group alone, `(1 + groups, k)` in
        float64; None where this way is none: on a CPU, for few targets, for values
        that are not known or lie on other devices than the default one, and where the
        gradients of all samples do not fit memory.

    Raises:
        ValueError: If `apply` breaks the contract, or a gradient is not finite.
        RuntimeError: If products are far from exact ones.
    """
    if backend() == "cpu" or v.shape[1] <= _FEW or isinstance(v, Tracer):
        return None
    with request.context():
        prepared = prepare(apply, params, x, None, request, full=False, single=True)
        captured = prepared.network.source.program.constants
        if prepared.traced or not prepared.features:
            return None
        if not _on_default_device((params, x, captured)):
            return None
        return _energies(_in_rows(prepared), v, groups, request)


def _in_rows(prepared: Prepared) -> Prepared:
    """Gradients formed in full: no two examples meet, and so there is no result."""
    problem = replace(prepared.problem, m=1, symmetric=True)

    def one(feature: Feature) -> Feature:
        if isinstance(feature, Whole):
            return feature
        return all_rows(feature.piece)

    features = list(map(one, prepared.features))
    return prepared._replace(problem=problem, features=features)


def is_cheaper(
    apply: Apply, params: Params, x: Inputs, num_targets: int, request: Request
) -> bool:
    """Whether gradients that meet targets take less than a Gram matrix.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        num_targets: How many targets.
        request: Options of the kernel.

    Returns:
        Whether it takes less than half as many multiply-adds. Of layers with one
        position, as in an MLP, a Gram matrix takes very few.
    """
    with request.context():
        prepared = prepare(apply, params, x, None, request, full=False)
        source, n = prepared.network.source, prepared.problem.n
        c = prepared.network.num_outputs
        meeting = [cost(source, f, c) for f in prepared.features]
        formed = [cost(source, f, c) for f in _in_rows(prepared).features]
    gram = sum(each.per_pair * n / 2 + each.per_example for each in meeting)
    alone = sum(each.numbers * num_targets + each.per_example for each in formed)
    return 2 * alone < gram


def _on_default_device(tree: Any) -> bool:
    config: Any = jax.config
    default = config.jax_default_device or jax.local_devices()[0]
    arrays = [leaf for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.Array)]
    known = [leaf for leaf in arrays if not isinstance(leaf, Tracer)]
    return all(leaf.devices() == {default} for leaf in known)


def _in_chunks(job: Job, formed: int) -> Job:
    """Chunks of which so many bytes hold the rows of a pass, several times over."""
    made, problem = job.plan, job.problem
    numbers = [
        sum(cost(job.source, f, problem.num_outputs).numbers for f in one)
        for one in made.passes
    ]
    each = _COPIES * problem.itemsize * max(1, made.columns, *numbers)
    return job._replace(
        plan=replace(made, chunk=max(1, min(made.chunk, formed // each)))
    )


def _energies(
    prepared: Prepared, v: AnyArray, groups: Sequence[slice], request: Request
) -> np.ndarray | None:
    problem = prepared.problem
    columns = np.asarray(columns_of(v, replace(problem, m=problem.n)))
    width = math.ceil(columns.shape[1] / math.ceil(columns.shape[1] / _MOST))
    room = free_memory() if request.memory is None else request.memory
    room -= (len(groups) + 2) * width * (problem.n + _WIDEST) * problem.itemsize
    formed = min(_FORMED, room // 8)  # rows of a chunk, before they lie in slabs
    if room <= 0:
        return None
    try:
        job = job_of(prepared, request._replace(memory=room - formed))
    except ValueError:  # it does not fit
        return None
    if job.plan.panel < problem.n:
        return None
    job = _in_chunks(job, formed)
    compile_network(job.source, job.values, job.x_1, job.plan.chunk)
    verify(prepared.network, prepared.features, prepared.x_1)
    job = _in_chunks(without_idle(job, prepared), formed)
    made = np.empty((1 + len(groups), columns.shape[1]))
    blocks = list(windows(columns.shape[1], width))
    total = problem.n * len(job.plan.passes) * len(blocks)
    with progress_bar(
        "Energies", total, show=request.progress, unit="samples"
    ) as advance:
        for block in blocks:
            made[:, block.items] = energies(
                job.source,
                job.plan,
                problem,
                job.values,
                job.x_1,
                job.precision,
                columns[:, block.items].astype(result_dtype(problem)),
                groups,
                advance,
            )
    if not np.isfinite(made).all():
        raise ValueError(
            "A gradient is NaN or infinite, or a target is: look at the values of "
            "the targets, the parameters and the samples, and for a derivative that "
            "does not exist there."
        )
    return made
