r"""Gram matrices of the empirical neural tangent kernel.

$$\Theta(x, x') = \langle \nabla_\theta f_\theta(x), \nabla_\theta f_\theta(x')\rangle$$

summed over all parameters, no $1/p$ and no $1/n$, in the parameterization in which
the network is written. Exact: the network's structure decides how fast it goes, never
what comes out.

>>> import jax.numpy as jnp
>>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
>>> gram(lambda w, x: x @ w, jnp.ones((2, 1)), x).tolist()
[[5.0, 11.0], [11.0, 25.0]]
"""

from os import PathLike
from pathlib import Path
from typing import Any, overload

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from .._progress import progress_bar
from .._types import Apply, Inputs, Params
from . import engine, traced
from .accelerated.warming import compile_network
from .active import without_idle
from .planning import backend, check_room
from .preparing import job_of, prepare, result_dtype
from .request import Outputs, Precision, Request
from .results import check_finite, collect
from .sharded import gram_sharded, sharding_of
from .tiled.folder import check_shared, check_store
from .tiled.storing import store_gram
from .tiled.tiled_gram import TiledGram
from .verifying import verify


@overload
def gram(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None = None,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
    store: None = None,
    cluster: None = None,
    progress: bool = False,
) -> Float[Array, "n m"]: ...
@overload
def gram(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None = None,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
    store: str | PathLike[str],
    cluster: Any = None,
    progress: bool = False,
) -> TiledGram: ...
def gram(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None = None,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
    store: str | PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = False,
) -> Float[Array | TiledGram, "n m"]:
    r"""Neural tangent kernel between two sets of samples.

    Under `jit`, and wherever else arguments are traced, shapes and structure are
    checked, values are not, and the computation is neither cut into panels nor shown.
    Samples that are sharded over several devices along their leading axis give a result
    whose rows are sharded alike; each device computes its own.

    With `store`, the result may be larger than memory: it is computed tile by tile into
    that folder. A tile there is final, and whole whatever happens; a call that was
    killed, or met a full disk, is called again and goes on; damaged tiles are found by
    their checksums, reported and computed again. On one machine the result is the same
    to the bit as that of a call that was never disturbed.

    With `cluster` besides, workers of Dask.distributed fill that folder, which they all
    have to see. Any of them may die, and the scheduler too; see `docs/scale.md`.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it; integer leaves are never differentiated.
        x_1: Samples along a leading axis, an array or a pytree of arrays.
        x_2: Other samples; None means `x_1` again, and then the lower triangle alone
            is computed and the result is symmetric to the bit.
        outputs: With several logits, `"mean"` of the kernels of the single logits,
            `"sum"` for the kernel of the sum of logits, the index of one logit, or a
            function of the logits `(n, c) -> (n,)` whose kernel is wanted.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers $s$, for
            $J\,\mathrm{diag}(s)\,J^\top$ (layerwise learning rates, or another
            parameterization).
        precision: `"float64"` computes in float64 whatever the dtype of `params` and
            `x`, and `apply` runs with 64-bit types: random numbers that it draws itself
            are others then, so pass them to it, or draw them with an explicit dtype.
            Where 64-bit types are off, take `np.asarray` of the result before
            arithmetic of your own: that of JAX would be in float32.
            The others keep the network's dtype, at full float32 precision where
            it does not ask for less itself, and differ in the products on a GPU:
            `"float32"` is exact; `"high"` (three bfloat16 products) was seen to be off
            by 1e-5 to 4e-5 in relative Frobenius norm, `"fast"` (one) by 1e-4 to 8e-4.
        memory: Bytes that may be used; a share of what is free by default.
        store: Folder for the result: new, empty, or of the same computation begun
            before.
        cluster: Who computes: the address of a Dask scheduler, a
            `dask.distributed.Client`, or `"local:2"` for two workers on this machine.
            `memory` is then that of each worker.
        progress: Show a progress bar.

    Returns:
        The Gram matrix, in the widest dtype of the parameters, float32 at least, or
        float64 if asked for. With `store` a `TiledGram`, read from disk where asked.

    Raises:
        ValueError: If `apply` breaks the contract (see `tl.models.check_apply`), the
            samples are empty or do not fit together, an example gives a gradient that
            is not finite, memory is too small (says what would fit), or `store` is not
            a folder of this computation (says what differs). Likewise for `cluster`
            without `store`, or without a worker that is fit for this computation.
        OSError: If `store` cannot be written to, its disk is too small, or there is no
            scheduler or worker.
    """
    request = Request(outputs, trainable, scale, precision, memory, progress)
    if cluster is not None:
        check_shared(cluster, store)
    if store is None:
        return _gram(apply, params, x_1, x_2, request, full=False)
    folder = Path(store)
    check_store(folder, (params, x_1, x_2, scale))
    if cluster is not None:
        from .tiled.gram_subject import gram_on_cluster

        return gram_on_cluster(apply, params, x_1, x_2, request, folder, cluster)
    with request.context():
        prepared = prepare(apply, params, x_1, x_2, request, full=False)
        return store_gram(prepared, request, folder)


def gram_full(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None = None,
    *,
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
    progress: bool = False,
) -> Float[Array, "n c m c"]:
    """Neural tangent kernel between all pairs of outputs at all pairs of samples.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x_1: Samples along a leading axis.
        x_2: Other samples; None means `x_1` again.
        trainable: Prefix of `params` with booleans.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.
        memory: Bytes that may be used.
        progress: Show a progress bar.

    Returns:
        Entry `[i, a, j, b]` is the product of the gradients of output `a` at sample
        `i` and of output `b` at sample `j`.
    """
    request = Request("mean", trainable, scale, precision, memory, progress)
    return _gram(apply, params, x_1, x_2, request, full=True)


def gram_by_parameter(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None = None,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
) -> PyTree[Float[Array, "n m"]]:
    """The part of each parameter in the neural tangent kernel.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x_1: Samples along a leading axis.
        x_2: Other samples; None means `x_1` again.
        outputs: See `tl.gram`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.

    Returns:
        A tree like `params` of Gram matrices that add up to `tl.gram`; zero for
        integer leaves and what is left out.

    Raises:
        ValueError: As `tl.gram`, and if the Gram matrices of all parameters do not fit
            memory.
    """
    request = Request(outputs, trainable, scale, precision)
    with request.context():
        prepared = prepare(apply, params, x_1, x_2, request, full=False, apart=True)
        network, features, problem = prepared[:3]
        if prepared.traced:
            batches = prepared.x_1, prepared.x_2
            parts: dict[int, Any] = traced.by_leaf(network, features, problem, batches)
        else:
            job = job_of(prepared, request, later=False)
            check_room(job.plan, problem, len(set(map(traced.leaf_of, features))))
            verify(network, features, prepared.x_1)
            found = engine.by_leaf(job).items()
            parts = {i: check_finite(K, problem.symmetric) for i, K in found}
        zero = jnp.zeros((problem.n, problem.m), result_dtype(problem))
        grams = [parts.get(i, zero) for i in range(len(network.values.leaves))]
        return jax.tree.unflatten(jax.tree.structure(params), grams)


def gram_diagonal(
    apply: Apply,
    params: Params,
    x: Inputs,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
) -> Float[Array, " n"]:
    """Squared norms of the gradients: the diagonal of the Gram matrix, alone.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: Samples along a leading axis.
        outputs: See `tl.gram`.
        trainable: Prefix of `params` with booleans.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.

    Returns:
        One number per sample.
    """
    request = Request(outputs, trainable, scale, precision)
    with request.context():
        prepared = prepare(apply, params, x, None, request, full=False, single=True)
        if prepared.traced:
            return traced.diagonal(prepared.network, prepared.features, prepared.x_1)
        verify(prepared.network, prepared.features, prepared.x_1)
        return check_finite(engine.diagonal(job_of(prepared, request)))


def _gram(apply, params, x_1, x_2, request: Request, *, full: bool) -> Array:
    with request.context():
        spread = None if full else sharding_of(x_1)
        if spread is not None:
            return gram_sharded(apply, params, x_1, x_2, request, spread)
        prepared = prepare(apply, params, x_1, x_2, request, full=full)
        if prepared.traced:
            batches = prepared.x_1, prepared.x_2
            return traced.gram(
                prepared.network, prepared.features, prepared.problem, batches
            )
        job = job_of(prepared, request)
        if backend() == "gpu":  # compiles while the plan is verified on the host
            compile_network(job.source, job.values, job.x_1, job.plan.chunk)
        verify(prepared.network, prepared.features, prepared.x_1)
        job = without_idle(job, prepared)
        with progress_bar(
            "Gram matrix", _total(job), show=request.progress, unit="pairs"
        ) as advance:
            return check_finite(collect(job, advance), job.problem.symmetric)


def _total(job: engine.Job) -> int:
    """Pairs of examples that a computation goes through, times passes."""
    pairs = engine.panel_pairs(job.problem, job.plan.panel)
    sizes = [(a.stop - a.start) * (b.stop - b.start) for a, b in pairs]
    return sum(sizes) * len(job.plan.passes)
