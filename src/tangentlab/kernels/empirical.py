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

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, PyTree

from .._checks import batch_size
from .._progress import progress_bar
from .._types import AnyArray, Apply, Inputs, Params
from ..models import check_apply
from . import engine, traced
from .active import active_features
from .features import Feature
from .forms import choose
from .network import Network, read
from .planning import Problem, plan
from .request import Outputs, Precision, Request
from .results import check_finite, collect
from .verifying import verify


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
    progress: bool = False,
) -> Float[Array, "n m"]:
    r"""Neural tangent kernel between two sets of samples.

    Under `jit`, and wherever else arguments are traced, shapes and structure are
    checked, values are not, and the computation is neither cut into panels nor shown.

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
            `x`. The others keep the network's dtype, at full float32 precision where
            it does not ask for less itself, and differ in the products on a GPU:
            `"float32"` is exact; `"high"` (three bfloat16 products) was seen to be off
            by 1e-5 to 4e-5 in relative Frobenius norm, `"fast"` (one) by 1e-4 to 8e-4.
        memory: Bytes that may be used; a share of what is free by default.
        progress: Show a progress bar.

    Returns:
        The Gram matrix, in the dtype of the parameters, or float64 if asked for.

    Raises:
        ValueError: If `apply` breaks the contract (see `tl.models.check_apply`), the
            samples are empty or do not fit together, an example gives a gradient that
            is not finite, or memory is too small (says what would fit).
    """
    request = Request(outputs, trainable, scale, precision, memory, progress)
    return _gram(apply, params, x_1, x_2, request, full=False)


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
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.

    Returns:
        A tree like `params` of Gram matrices that add up to `tl.gram`; zero for
        integer leaves.
    """
    request = Request(outputs, None, scale, precision)
    with request.context():
        task = _prepare(apply, params, x_1, x_2, request, full=False, apart=True)
        verify(task.network, task.features, task.x_1)
        parts = engine.by_leaf(_job(task, request))
        zero = jnp.zeros((task.problem.n, task.problem.m), _dtype(task.problem))
        leaves = range(len(task.network.values.leaves))
        grams = [jnp.asarray(parts[i]) if i in parts else zero for i in leaves]
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
        task = _prepare(apply, params, x, None, request, full=False, single=True)
        if task.traced:
            return traced.diagonal(task.network, task.features, task.x_1)
        verify(task.network, task.features, task.x_1)
        return check_finite(engine.diagonal(_job(task, request)))


class _Task(NamedTuple):
    """A request, understood."""

    network: Network
    features: list[Feature]
    problem: Problem
    x_1: list[AnyArray]
    x_2: list[AnyArray]
    traced: bool


def _prepare(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None,
    request: Request,
    *,
    full: bool,
    apart: bool = False,
    single: bool = False,
) -> _Task:
    request.check()
    params, x_1, x_2 = (request.cast(tree) for tree in (params, x_1, x_2))
    n = batch_size("x_1", x_1)
    m = n if x_2 is None else batch_size("x_2", x_2)
    check_apply(apply, params, x_1)
    network = read(apply, params, x_1, request)
    item = 8 if _widest(network) == 8 else 4
    stored = 2 if request.precision == "fast" and engine.backend() == "gpu" else item
    c = network.num_outputs
    problem = Problem(n, m, c, x_2 is None, item, stored, full=full)
    features = choose(
        network.source,
        network.differentiated,
        1 if single else max(n, m),
        c,
        apart=apart,
    )
    left = jax.tree.leaves(x_1)
    right = left if x_2 is None else jax.tree.leaves(x_2)
    every = (*network.values.leaves, *left, *right)
    tracing = any(isinstance(leaf, Tracer) for leaf in every)
    return _Task(network, features, problem, left, right, tracing)


def _gram(apply, params, x_1, x_2, request: Request, *, full: bool) -> Array:
    with request.context():
        task = _prepare(apply, params, x_1, x_2, request, full=full)
        if task.traced:
            batches = task.x_1, task.x_2
            return traced.gram(task.network, task.features, task.problem, batches)
        verify(task.network, task.features, task.x_1)
        job = _job(task, request)
        total = task.problem.n * task.problem.m * len(job.plan.passes)
        with progress_bar("Gram matrix", total, show=request.progress) as advance:
            return check_finite(collect(job, advance))


def _job(task: _Task, request: Request) -> engine.Job:
    network, problem = task.network, task.problem
    made = plan(network.source, task.features, problem, request.memory)
    if len(made.passes) > 1 and engine.backend() == "gpu":
        features = active_features(
            network.source, task.features, network.values, [task.x_1], made.chunk
        )
        made = plan(network.source, features, problem, request.memory)
    return engine.Job(
        network.source,
        network.values,
        made,
        problem,
        task.x_1,
        task.x_2,
        request.precision,
    )


def _widest(network: Network) -> int:
    return max(network.values.leaves[i].dtype.itemsize for i in network.differentiated)


def _dtype(problem: Problem):
    return jnp.float64 if problem.itemsize == 8 else jnp.float32
