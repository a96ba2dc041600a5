"""Reading a network: once for each function, structure of parameters and kind of input.

Reading finds where the parameters of a network meet data. The result is remembered,
with all that was compiled of it, so that the second call with the same function starts
at once. A function may read what changes, as a method that finds batch statistics on
its object does: so it is traced at each call, and what is remembered is the function
together with all that it computes.
"""

import operator
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from .._hashing import calls_python, closes_over_tracers, hash_traced
from .._jaxprs import shape_of
from .._types import AnyArray, Apply, Inputs, Params
from .features import Source, Values
from .reading.program import trace
from .reading.sites import find_sites
from .request import Outputs, Request
from .selection import select

_REMEMBERED: OrderedDict[tuple, Source] = OrderedDict()
_MOST = 32  # networks remembered
_ROWS = 3  # on which a function of the logits is looked at


class Network(NamedTuple):
    """A network with values for its parameters.

    Attributes:
        source: The network, read.
        values: Values of the parameters.
        differentiated: Leaves that count, by position.
        names: Path of each leaf in the parameter tree.
        num_outputs: Number of outputs, after they were reduced.
        function: `function(leaves, example) -> (c,)`, what was traced.
        unknown: It, or a rule of its differentiation, captured values that are traced.
        told: Its trace tells what it computes; a call of Python is not told.
    """

    source: Source
    values: Values
    differentiated: tuple[int, ...]
    names: tuple[str, ...]
    num_outputs: int
    function: Callable[[Sequence[Array], Sequence[Array]], Array]
    unknown: bool
    told: bool


def read(apply: Apply, params: Params, x: Inputs, request: Request) -> Network:
    """Read a network, or remember it.

    Args:
        apply: The network.
        params: Its parameters.
        x: Examples; shapes and dtypes alone matter.
        request: Which outputs and parameters count.

    Returns:
        The network.
    """
    outputs = request.outputs
    chosen = select(params, request.trainable, request.scale)
    structure = jax.tree.structure(params)
    arrays, form = jax.tree.flatten(x)
    example = [shape_of(a, a.shape[1:]) for a in arrays]
    leaves = [shape_of(a, a.shape) for a in chosen.all_leaves]

    def function(leaves, example):
        batch = jax.tree.unflatten(form, [a[None] for a in example])
        logits = apply(jax.tree.unflatten(structure, leaves), batch)
        return reduce_outputs(logits, outputs)[0]

    arrayed = frozenset(
        leaf
        for leaf, root in zip(chosen.picked, chosen.roots, strict=True)
        if root.ndim
    )
    traced = trace_derivative(function, leaves, example, chosen.picked)
    unknown, told = closes_over_tracers(traced), not calls_python(traced)

    def make() -> Source:
        return _read(function, leaves, example, chosen.picked, arrayed)

    if unknown or not told:
        source = make()
    else:
        known = (apply, outputs, structure, form, chosen.picked, arrayed)
        source = _remembered((*known, hash_traced(traced)), make)
    one = jnp.ones((), jnp.float32)
    roots = dict(zip(chosen.picked, chosen.roots, strict=True))
    values = Values(chosen.all_leaves, [roots.get(i, one) for i in range(len(leaves))])
    names = [
        jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(params)
    ]
    num = source.program.shapes[source.program.output].shape[0]
    return Network(
        source, values, chosen.picked, tuple(names), num, function, unknown, told
    )


def read_again(
    network: Network, leaves: Sequence[AnyArray], example: Sequence[AnyArray]
) -> Source:
    """Read a network for numbers of other types.

    Args:
        network: The network.
        leaves: Values of the parameters, in these types.
        example: Arrays of one example.

    Returns:
        The network, read; it is not remembered.
    """
    shapes, one = (
        [shape_of(a, a.shape) for a in arrays] for arrays in (leaves, example)
    )
    elementwise = network.source.elementwise
    return _read(network.function, shapes, one, network.differentiated, elementwise)


def reduce_outputs(logits: Array, outputs: Outputs) -> Array:
    """Reduce logits to the outputs whose mean kernel is wanted.

    Args:
        logits: `(n, c)`.
        outputs: See `tl.gram`.

    Returns:
        `(n, c)` for the mean of all, otherwise `(n, 1)`.

    Raises:
        ValueError: If `outputs` is none of the choices, or mixes rows.
    """
    num = logits.shape[1]
    if callable(outputs):
        reduced = jnp.asarray(outputs(logits))
        if reduced.shape != logits.shape[:1]:
            raise ValueError(
                "A function as `outputs` must map logits (n, c) to (n,), but it mapped "
                f"{logits.shape} to {reduced.shape}."
            )
        _check_by_row(outputs, num, logits.dtype)
        return reduced[:, None]
    if outputs == "mean":
        return logits
    if outputs == "sum":
        return logits.sum(axis=1, keepdims=True)
    index = None if isinstance(outputs, str) else operator.index(outputs)
    if index is not None and -num <= index < num:
        return logits[:, index, None]
    raise ValueError(
        f'`outputs` must be "mean", "sum", a function, or the index of one of the '
        f"{num} logits, got {outputs!r}."
    )


def _check_by_row(outputs: Callable, num: int, dtype: Any) -> None:
    """Refuse a function of the logits that gives a row another value among others."""
    with jax.ensure_compile_time_eval():  # these are numbers, also under `jit`
        drawn = np.random.default_rng(0).normal(size=(_ROWS, num))
        logits = jnp.asarray(drawn, dtype)
        found = [outputs(logits), *(outputs(logits[i, None]) for i in range(_ROWS))]
    if any(isinstance(values, Tracer) for values in found):
        return
    together, *alone = (np.asarray(values, np.float64) for values in found)
    size = np.abs(together[np.isfinite(together)]).max(initial=0)
    if not np.allclose(together, np.concatenate(alone), 0, 0.01 * size, equal_nan=True):
        raise ValueError(
            "A function as `outputs` must take each row of the logits (n, c) by itself,"
            " but its value for one row changes with the others: reduce along axis 1, "
            "as in `lambda logits: logits.max(axis=1)`."
        )


def _read(function, leaves, example, picked, arrayed) -> Source:
    # Products without a precision of their own run in full float32 (a GPU's default is
    # tf32); an explicit precision or cast in the network is kept.
    with jax.default_matmul_precision("highest"):
        program = trace(function, leaves, example)
    return Source(program, tuple(find_sites(program, picked)), arrayed)


def trace_derivative(
    function: Callable[..., Any],
    leaves: Sequence[Any],
    example: Sequence[Any],
    picked: Sequence[int],
) -> Any:
    """Trace a network and its derivative, with the rules of custom derivatives in it.

    Args:
        function: `function(leaves, example) -> (c,)`.
        leaves: Parameter leaves, or their shapes and dtypes.
        example: Arrays of one example, or their shapes and dtypes.
        picked: Positions of the differentiated leaves.

    Returns:
        What `jax.make_jaxpr` returns.
    """

    def derivative(leaves, example):
        def outputs(chosen):
            changed = dict(enumerate(leaves)) | dict(zip(picked, chosen, strict=True))
            return function(list(changed.values()), example)

        values, pull_back = jax.vjp(outputs, [leaves[i] for i in picked])
        return values, pull_back(jnp.ones_like(values))

    with jax.default_matmul_precision("highest"):
        return jax.make_jaxpr(derivative)(list(leaves), list(example))


def _remembered(key: tuple, make: Callable[[], Source]) -> Source:
    try:
        hash(key)
    except TypeError:
        return make()
    if key not in _REMEMBERED:
        _REMEMBERED[key] = make()
        if len(_REMEMBERED) > _MOST:
            _REMEMBERED.popitem(last=False)
    _REMEMBERED.move_to_end(key)
    return _REMEMBERED[key]
