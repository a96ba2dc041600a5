r"""Products with the empirical neural tangent kernel, without a Gram matrix.

$$\Theta(x_1, x_2)\,v = J_1\,\mathrm{diag}(s)\,(J_2^\top v)$$

>>> import jax.numpy as jnp
>>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
>>> apply, params = lambda w, x: x @ w, jnp.ones((2, 1))
>>> kernel_product(apply, params, x, None, jnp.array([1.0, 1.0])).tolist()
[16.0, 36.0]
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, PyTree, Real

from ..._progress import Advance, progress_bar
from ..._types import AnyArray, Apply, Inputs, Params
from ..planning import free_memory
from ..preparing import Prepared, prepare, result_dtype
from ..request import Outputs, Precision, Request
from ..verifying import verify
from .gradients import features_for, through_gradients
from .lanes import Lanes, columns_of, windows
from .routes import Cut, Route, cut, refusal
from .tangents import Maps, through_network

_NO_GRADIENT = (
    "The gradient is NaN or infinite for example {}: look for it in the parameters, in "
    "that example, and for a derivative that does not exist there."
)
_FEW = 2  # columns, up to which a backward pass for each of them is cheaper


def kernel_product(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None,
    v: Real[AnyArray, "m ..."],
    *,
    outputs: Outputs | Literal["full"] = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
    progress: bool = False,
) -> Float[Array, "n ..."]:
    r"""Multiply the neural tangent kernel by one or more vectors.

    A backward pass over `x_2` sums up $J_2^\top v$, a vector like the parameters for
    each column of `v`; a pass over `x_1` multiplies it by $J_1$. Time grows as
    $(n + m) k$ where a Gram matrix takes $n m$; the mean over $c$ logits takes $c$
    times as long as a single one, `"full"` does not. Memory is planned beforehand.

    Under `jit`, and wherever else arguments are traced, shapes and structure are
    checked, values are not, and all columns and samples run at once.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it; integer leaves are never differentiated.
        x_1: Samples along a leading axis, an array or a pytree of arrays.
        x_2: Other samples, one for each row of `v`; None means `x_1` again.
        v: A vector `(m,)`, or vectors as columns, `(m, k)`. With `outputs="full"` a
            number for each sample and logit, `(m, c)`, or columns of them, `(m, c, k)`.
        outputs: Which kernel: with several logits `"mean"`, `"sum"`, an index or a
            function as in `tl.gram`, or `"full"` for that of `tl.gram_full` between
            all pairs of logits. Never guessed from the shape of `v`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers $s$.
        precision: `"float64"` computes in float64 whatever the dtype of `params` and
            `x`; the others keep the network's dtype, at full float32 precision where
            it does not ask for less itself, and are equal here.
        memory: Bytes that may be used; a share of what is free by default.
        progress: Show a progress bar.

    Returns:
        The product, `(n,)` or `(n, k)`; with `outputs="full"`, `(n, c)` or `(n, c, k)`.

    Raises:
        ValueError: If `apply` breaks the contract (see `tl.models.check_apply`), the
            samples are empty or do not fit together, `v` does not fit them, an example
            gives a gradient that is not finite, or memory is too small.
    """
    full = isinstance(outputs, str) and outputs == "full"
    kept: Any = "mean" if full else outputs
    request = Request(
        outputs=kept,
        trainable=trainable,
        scale=scale,
        precision=precision,
        memory=memory,
        progress=progress,
    )
    with request.context():
        prepared = prepare(apply, params, x_1, x_2, request, full=full)
        columns = columns_of(v, prepared.problem)
        traced = prepared.traced or isinstance(columns, Tracer)
        prepared = prepared._replace(traced=traced)
        trees = jax.tree.structure(params), jax.tree.structure(x_1)
        maps = Maps(apply, kept, *trees, prepared.network.differentiated)
        product = _product(prepared, columns, maps, request)
        return jnp.asarray(product if np.ndim(v) == columns.ndim else product[..., 0])


class _Job(NamedTuple):
    """A product to compute.

    Attributes:
        prepared: The network and the samples.
        lanes: The vectors.
        route: How they are multiplied.
        cut: What runs through the network at once.
    """

    prepared: Prepared
    lanes: Lanes
    route: Route
    cut: Cut


def _product(
    prepared: Prepared, columns: AnyArray, maps: Maps, request: Request
) -> AnyArray:
    """The product; values are looked at where they are known."""
    if prepared.traced:
        return _multiply(_job(prepared, columns, maps, None), lambda _: None)
    _check_rows(columns, "`v` is NaN or infinite in row {}: see how it was computed.")
    memory = free_memory() if request.memory is None else request.memory
    job = _job(prepared, columns, maps, memory)
    blocks = math.ceil(job.lanes.num / job.cut.width)
    total = blocks * (prepared.problem.n + prepared.problem.m)
    with progress_bar("Kernel product", total, show=request.progress) as advance:
        product = _multiply(job, advance)
    _check_rows(product, _NO_GRADIENT.format("{} of `x_1`"))
    return product


def _job(prepared: Prepared, columns: AnyArray, maps: Maps, memory: int | None) -> _Job:
    """Choose a route; without a limit of memory everything runs at once."""
    problem = prepared.problem

    def fit(lanes: Lanes, route: Route) -> _Job | None:
        whole = Cut(lanes.num, max(problem.n, problem.m))
        found = whole if memory is None else cut(route, problem, lanes.num, memory)
        return None if found is None else _Job(prepared, lanes, route, found)

    many = _FEW * (problem.num_outputs if problem.full else 1)
    if columns.shape[-1] > many and prepared.features:
        job = fit(Lanes(columns, 0), through_gradients(prepared))
        if job is not None and job.cut.width > many:
            if not prepared.traced:
                verify(prepared.network, features_for(prepared), prepared.x_1)
            return job
    lanes = Lanes(columns, 0 if problem.full else problem.num_outputs)
    route = through_network(maps, prepared)
    job = fit(lanes, route)
    if job is None:
        raise ValueError(refusal(route, problem, lanes.num, memory or 0))
    return job


def _multiply(job: _Job, advance: Advance) -> AnyArray:
    parts = []
    for window in windows(job.lanes.num, job.cut.width):
        total = _pull(job, window.items, advance)
        if not job.prepared.traced and not bool(_all_finite(total)):
            raise ValueError(_blame(job, window.items))
        pushed = _push(job, window.items, total, advance)
        parts.append(pushed[..., window.done :])
    return job.lanes.collect(_joined(job, parts, axis=-1))


def _zeros(job: _Job, block: slice) -> list[Array]:
    shapes = tuple((block.stop - block.start, *shape) for shape in job.route.shapes)
    return _all_zero(shapes, result_dtype(job.prepared.problem))


@partial(jax.jit, static_argnums=(0, 1))
def _all_zero(shapes: tuple[tuple[int, ...], ...], dtype: Any) -> list[Array]:
    return [jnp.zeros(shape, dtype) for shape in shapes]


def _pull(job: _Job, block: slice, advance: Advance) -> list[Array]:
    """Vectors like the parameters, summed over all examples of `x_2`."""
    total = _zeros(job, block)
    for window in windows(job.prepared.problem.m, job.cut.chunk):
        counted = np.arange(window.done + window.fresh) >= window.done
        weights = job.lanes.weights(block, window.items, counted)
        total = job.route.pull(total, _rows(job.prepared.x_2, window.items), weights)
        if not job.prepared.traced:
            jax.block_until_ready(total)
        advance(window.fresh)
    return total


def _push(job: _Job, block: slice, total: list[Array], advance: Advance) -> AnyArray:
    """Their products with the gradients of all examples of `x_1`."""
    dtype, parts = result_dtype(job.prepared.problem), []
    for window in windows(job.prepared.problem.n, job.cut.chunk):
        pushed = job.route.push(total, _rows(job.prepared.x_1, window.items))
        pushed = pushed if job.prepared.traced else np.asarray(pushed)
        kept = job.lanes.keep(block, pushed)
        parts.append(kept[window.done :].astype(dtype))
        advance(window.fresh)
    return _joined(job, parts, axis=0)


def _joined(job: _Job, parts: list[AnyArray], axis: int) -> AnyArray:
    """Parts put together, in host memory where values are known."""
    return (jnp if job.prepared.traced else np).concatenate(parts, axis=axis)


@jax.jit
def _all_finite(arrays: list[Array]) -> Array:
    return jnp.stack([jnp.isfinite(array).all() for array in arrays]).all()


def _rows(x: Sequence[AnyArray], rows: slice | np.ndarray) -> list[Array]:
    return [jnp.asarray(a[rows]) for a in x]


def _blame(job: _Job, block: slice) -> str:
    """Say which example of `x_2` has no finite gradient, by halving a window."""
    problem, chunk = job.prepared.problem, min(job.cut.chunk, job.prepared.problem.m)
    name = "x_1" if problem.symmetric else "x_2"

    def is_bad(rows: np.ndarray) -> bool:
        filled = np.resize(rows, chunk)  # so that nothing compiles again
        weights = job.lanes.weights(block, filled, np.arange(chunk) < len(rows))
        x = _rows(job.prepared.x_2, filled)
        return not bool(_all_finite(job.route.pull(_zeros(job, block), x, weights)))

    for window in windows(problem.m, chunk):
        rows = np.arange(window.items.start, window.items.stop)
        while is_bad(rows):
            if len(rows) == 1:
                return _NO_GRADIENT.format(f"{rows[0]} of `{name}`")
            first, second = np.array_split(rows, 2)
            rows = first if is_bad(first) else second
    return (
        f"The sum over the examples of `{name}` overflows, though each one's part is "
        'finite: divide `v` by a constant, or pass precision="float64".'
    )


def _check_rows(array: AnyArray, message: str) -> None:
    """Refuse an array that is not finite, with the first row that is not."""
    finite = np.isfinite(array.reshape(len(array), -1)).all(axis=1)
    if not finite.all():
        raise ValueError(message.format(int(finite.argmin())))
