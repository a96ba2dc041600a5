"""Whether a network mixes examples, seen on a few rows.

By gradients, without any tolerance; by values, when other rows change a little or much;
and by the values of a row alone. With parameters as they are and with others close by:
a branch that mixes is silent while its last scale is zero. What fails with those, which
a network may refuse, decides nothing.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float64

from .._compiling import compiled
from .._types import Apply, Inputs, Params
from .trees import is_differentiable, split_differentiable


def mixes(apply: Apply, forward: Apply, params: Params, rows: Inputs) -> bool:
    """Whether rows meet, with these parameters or with others close by.

    Args:
        apply: The network.
        forward: The same for as many rows, compiled.
        params: Its parameters.
        rows: A few rows.

    Returns:
        True if one does. Where an output is not finite nothing is decided.
    """
    gradients = _row_gradients(apply, rows)
    alone = compiled(apply, runs_once=True)

    def meet(values: Params) -> bool:
        shape = forward(values, rows).shape
        return (
            _gradient_crosses_rows(gradients, values, shape)
            or values_cross_rows(forward, values, rows)
            or _value_needs_the_batch(forward, alone, values, rows)
        )

    if meet(params):
        return True
    try:
        return meet(_moved(params))
    except Exception:
        return False


def values_cross_rows(forward: Apply, params: Params, rows: Inputs) -> bool:
    """Whether an output row moves when other rows change.

    Runs one program again and so allows rounding alone. Rows far away show a function
    of the batch that has steps.

    Args:
        forward: The network, compiled.
        params: Its parameters.
        rows: A few rows.

    Returns:
        True if one does. Where an output is not finite nothing is decided.
    """
    expected, eps = _expected(forward, params, rows)
    allowed = 100 * eps * _row_sizes(expected)
    for others in (perturb(rows), _far(rows)):
        for group in _groups(len(expected)):
            outputs = values_of(forward(params, _replace(rows, group, others)))
            with np.errstate(invalid="ignore", over="ignore"):
                if (np.abs(outputs - expected) > allowed)[~group].any():
                    return True
    return False


def on_host(leaf: Any) -> Any:
    """Rows as numpy has them, since JAX would compile each step that is taken.

    Args:
        leaf: An array.

    Returns:
        A numpy array, where that has numbers of this kind.
    """
    leaf = jnp.asarray(leaf)
    numeric = jnp.issubdtype(leaf.dtype, np.number) or leaf.dtype == bool
    return np.asarray(leaf) if numeric and not isinstance(leaf, Tracer) else leaf


def values_of(outputs: Any) -> Float64[np.ndarray, "n c"]:
    """Outputs as numbers.

    Args:
        outputs: Of a network.

    Returns:
        The same in float64.
    """
    return np.asarray(outputs).astype(np.float64)


def append_rows(rows: Inputs, more: Inputs) -> Inputs:
    """Put rows behind others.

    Args:
        rows: A few rows.
        more: Others.

    Returns:
        All of them.
    """

    def join(a, b):
        return (np if isinstance(a, np.ndarray) else jnp).concatenate([a, b])

    return jax.tree.map(join, rows, more)


def perturb(rows: Inputs) -> Inputs:
    """Other values close by; positive numbers and most indices stay valid.

    Args:
        rows: A few rows.

    Returns:
        As many others.
    """

    def change(leaf):
        if leaf.dtype == bool:
            return ~leaf
        if jnp.issubdtype(leaf.dtype, jnp.integer):
            return leaf + 1 - 2 * (leaf > 0).astype(leaf.dtype)
        if jnp.issubdtype(leaf.dtype, jnp.inexact):
            noise = np.asarray(_draws(leaf.shape), leaf.dtype)
            return leaf + (0.01 * noise * (1 + abs(leaf))).astype(leaf.dtype)
        return leaf

    return jax.tree.map(change, rows)


def _groups(num_rows: int) -> list[np.ndarray]:
    """Return masks of rows; any row is once in a mask without any given other row."""
    bits = range((num_rows - 1).bit_length())
    masks = [(np.arange(num_rows) >> bit) % 2 == 1 for bit in bits]
    return [side for mask in masks for side in (mask, ~mask)]


def _row_gradients(apply: Apply, rows: Inputs) -> Callable[[Params, np.ndarray], Any]:
    """A function of parameters and weights of the outputs; compiled once."""
    floats, others = split_differentiable(rows)

    def gradients(params, weights):
        def weighted(floats):
            outputs = apply(params, eqx.combine(floats, others))
            return (outputs * weights.astype(outputs.dtype)).sum()

        return jax.grad(weighted)(floats)

    program = compiled(gradients, runs_once=True)
    return lambda params, weights: program(params, weights)


def _gradient_crosses_rows(
    gradients: Callable[[Params, np.ndarray], Any],
    params: Params,
    shape: tuple[int, ...],
) -> bool:
    """Return whether an output row has a gradient at another row, by no tolerance.

    NaN there decides nothing: a zero cotangent met an infinite derivative. Nor does
    what is not known: a rule of differentiation may have captured a traced value.
    """
    directions = _draws(shape)
    for group in _groups(len(directions)):
        weights = np.asarray(directions * group[:, None], np.float32)
        for leaf in jax.tree.leaves(gradients(params, weights)):
            if isinstance(leaf, Tracer):
                return False
            outside = np.asarray(leaf)[~group]
            if (np.isfinite(outside) & (outside != 0)).any():
                return True
    return False


def _value_needs_the_batch(
    forward: Apply, alone: Apply, params: Params, rows: Inputs
) -> bool:
    """Return whether the first or last output row is another one without the others.

    Runs another program, whose rounding may differ at reduced precision.
    """
    expected, eps = _expected(forward, params, rows)
    allowed = 0.05 * _row_sizes(expected) + eps**0.5
    for i in (0, len(expected) - 1):
        row = jax.tree.map(lambda leaf, i=i: leaf[i : i + 1], rows)
        found = values_of(alone(params, row))[0]
        with np.errstate(invalid="ignore", over="ignore"):
            if (np.abs(found - expected[i]) > allowed[i]).any():
                return True
    return False


def _expected(
    forward: Apply, params: Params, rows: Inputs
) -> tuple[Float64[np.ndarray, "n c"], float]:
    """Outputs, and the machine epsilon of their type."""
    outputs = forward(params, rows)
    return values_of(outputs), float(jnp.finfo(outputs.dtype).eps)


def _row_sizes(outputs: Float64[np.ndarray, "n c"]) -> Float64[np.ndarray, "n 1"]:
    return np.abs(outputs).max(axis=1, keepdims=True)


def _replace(rows: Inputs, group: np.ndarray, others: Inputs) -> Inputs:
    """Return the rows of `others` where `group` says so, else those of `rows`."""
    order = np.where(group, len(group) + np.arange(len(group)), np.arange(len(group)))
    return jax.tree.map(lambda leaf: leaf[order], append_rows(rows, others))


def _draws(shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers in [0.5, 1] by numpy, since JAX would compile a generator."""
    return np.random.default_rng(0).uniform(0.5, 1.0, shape)


def _moved(params: Params) -> Params:
    """Return other parameters close by, none of which is zero."""

    def move(leaf):
        if not is_differentiable(leaf):
            return leaf
        leaf = on_host(leaf)
        noise = np.random.default_rng(leaf.size).uniform(-1.0, 1.0, leaf.shape)
        size = 1 + abs(leaf.astype(np.complex128))  # of any type, also one of 8 bits
        return leaf + (0.01 * noise * size).astype(leaf.dtype)

    return jax.tree.map(move, params)


def _far(rows: Inputs) -> Inputs:
    """Return other values far away, of the other sign; counts and indices as close."""

    def change(leaf, close):
        floating = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return (-3 * leaf - 1).astype(leaf.dtype) if floating else close

    return jax.tree.map(change, rows, perturb(rows))
