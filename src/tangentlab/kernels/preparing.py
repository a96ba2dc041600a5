"""A request, understood: the network read, the form of each parameter chosen."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._checks import batch_size
from .._jaxprs import inside_a_trace
from .._types import AnyArray, Apply, Inputs, Params
from ..models import check_apply
from ..models.trees import dtype_of
from . import engine
from .features import Feature
from .forms import choose
from .network import Network, read
from .packing import Problem
from .planning import backend, plan
from .request import Request


class Prepared(NamedTuple):
    """A request, understood.

    Attributes:
        network: The network, read.
        features: Each parameter in its cheapest exact form.
        problem: The size of the computation.
        x_1: Arrays of the examples along the rows.
        x_2: Arrays of the examples along the columns.
        traced: Whether values are not known: an argument is traced, a multiplier is,
            or what the network or a function of its outputs captured.
    """

    network: Network
    features: list[Feature]
    problem: Problem
    x_1: list[AnyArray]
    x_2: list[AnyArray]
    traced: bool


def prepare(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None,
    request: Request,
    *,
    full: bool,
    apart: bool = False,
    single: bool = False,
    checked: bool = False,
) -> Prepared:
    """Check a request and read the network.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x_1: Samples along the rows.
        x_2: Samples along the columns; None means `x_1` again.
        request: The options.
        full: Whether outputs are kept apart.
        apart: Whether each leaf has features of its own.
        single: Whether no example meets another, as on the diagonal.
        checked: Whether it is known that `apply` keeps its contract.

    Returns:
        What a plan is made of.
    """
    request.check()
    _check_leaves(params)
    n = batch_size("x_1", x_1)
    m = n if x_2 is None else batch_size("x_2", x_2)
    params, x_1, x_2 = (request.cast(tree) for tree in (params, x_1, x_2))
    if not checked:
        check_apply(apply, params, x_1)
    _check_alike(x_1, x_1 if x_2 is None else x_2)
    network = read(apply, params, x_1, request)
    item = 8 if _widest(network) == 8 else 4
    stored = 2 if request.precision == "fast" and backend() == "gpu" else item
    c = network.num_outputs
    columns, symmetric = (1, False) if single else (m, x_2 is None)
    problem = Problem(n, columns, c, symmetric, item, stored, full=full)
    features = choose(
        network.source,
        network.differentiated,
        1 if single else max(n, m),
        c,
        apart=apart,
    )
    left = _not_folded(jax.tree.leaves(x_1))
    right = left if x_2 is None else _not_folded(jax.tree.leaves(x_2))
    traced = _is_traced(network, (*left, *right))
    return Prepared(network, features, problem, left, right, traced)


def job_of(prepared: Prepared, request: Request, *, later: bool = True) -> engine.Job:
    """Plan a computation.

    Args:
        prepared: What is to be computed.
        request: The options.
        later: Whether features may be formed after a pass, on an accelerator.

    Returns:
        The job, ready to run.
    """
    network, problem = prepared.network, prepared.problem
    made = plan(network.source, prepared.features, problem, request.memory, later=later)
    return engine.Job(
        network.source,
        network.values,
        made,
        problem,
        prepared.x_1,
        prepared.x_2,
        request.precision,
    )


def _check_leaves(params: Params) -> None:
    """Refuse what is no array among parameters, as functions in an equinox module."""
    for path, leaf in jax.tree.leaves_with_path(params):
        if not (hasattr(leaf, "dtype") or isinstance(leaf, int | float | complex)):
            raise TypeError(
                f"`params{jax.tree_util.keystr(path)}` is no array, got "
                f"{type(leaf).__name__}: keep it out of `params`, in `apply`. For an "
                "equinox module, `tl.models.from_equinox` makes both."
            )


def _check_alike(x_1: Inputs, x_2: Inputs) -> None:
    """Refuse samples of two kinds: the network is read for those of `x_1`."""
    samples = [
        jax.tree.map(lambda a: f"{jnp.shape(a)[1:]} {dtype_of(a)}", x)
        for x in (x_1, x_2)
    ]
    kinds = [jax.tree.flatten(sample) for sample in samples]
    if kinds[0] != kinds[1]:
        raise ValueError(
            f"A sample of `x_2` must be like one of `x_1`, {samples[0]}, got "
            f"{samples[1]}: both go through the same network, so reshape or cast one."
        )


def _is_traced(network: Network, samples: Iterable[AnyArray]) -> bool:
    """Whether a value that the kernel depends on is not known, or nothing is."""
    captured = network.source.program.constants.values()
    every = (*network.values.leaves, *network.values.roots, *captured, *samples)
    traced = any(isinstance(value, Tracer) for value in every)
    return traced or network.unknown or inside_a_trace()


def _not_folded(samples: list[AnyArray]) -> list[AnyArray]:
    """Samples that a jitted function closes over, hidden from XLA's folding."""
    # It would multiply all of them with one another while it compiles, on one core and
    # without BLAS: for 2,200 images that takes minutes.
    if not inside_a_trace():
        return samples

    def hidden(a: AnyArray) -> AnyArray:
        known = isinstance(a, np.ndarray | jax.Array) and not isinstance(a, Tracer)
        if known and not jnp.issubdtype(a.dtype, jax.dtypes.extended):
            return jax.lax.optimization_barrier(a)
        return a

    return [hidden(a) for a in samples]


def _widest(network: Network) -> int:
    return max(network.values.leaves[i].dtype.itemsize for i in network.differentiated)


def result_dtype(problem: Problem) -> Any:
    """The dtype of a Gram matrix.

    Args:
        problem: The size of the computation.

    Returns:
        float64 if a parameter has it, else float32.
    """
    return jnp.float64 if problem.itemsize == 8 else jnp.float32
