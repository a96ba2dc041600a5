"""Whether a network mixes examples, seen on a few rows.

By gradients, without any tolerance; by values, when other rows change a little or much;
and by the values of a row alone. With parameters as they are and with others close by:
a branch that mixes is silent while its last scale is zero. What fails with those, which
a network may refuse, decides nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float64

from .._compiling import compiled
from .._types import AnyArray, Apply, Inputs, Params
from .trees import is_differentiable, split_differentiable


def mixes(
    apply: Apply, forward: Apply, params: Params, rows: Inputs, outputs: AnyArray
) -> bool:
    """Whether rows meet, with these parameters or with others close by.

    Args:
        apply: The network.
        forward: The same for as many rows, compiled.
        params: Its parameters.
        rows: A few rows.
        outputs: Of these rows.

    Returns:
        True if one does. Where an output is not finite nothing is decided.
    """
    gradients = _row_gradients(apply, rows)
    alone = compiled(apply, runs_once=True)

    def meet(values: Params, outputs: AnyArray) -> bool:
        expected = _Expected.of(outputs)
        return (
            _gradient_crosses_rows(gradients, values, outputs.shape)
            or any(
                _value_crosses_rows(forward, values, _replaced(rows, others), expected)
                for others in (perturb(rows), _far(rows))
            )
            or _value_needs_the_batch(alone, values, rows, expected)
        )

    if meet(params, outputs):
        return True
    moved = _moved(params)
    try:
        return meet(moved, forward(moved, rows))
    except jax.errors.JaxRuntimeError:  # the network itself refuses them
        return False


def values_still_cross_rows(
    forward: Apply, params: Params, rows: Inputs, outputs: AnyArray
) -> bool:
    """Whether rows of a network that was seen before meet with these parameters.

    Args:
        forward: The network, compiled.
        params: Its parameters.
        rows: A few rows.
        outputs: Of these rows.

    Returns:
        True if an output row moves when other rows go far away, or where that is not
        finite, when they change a little.
    """
    expected = _Expected.of(outputs)
    for others in (_far(rows), perturb(rows)):
        batches = _replaced(rows, others)
        found = _value_crosses_rows(forward, params, batches, expected)
        if found is not None:
            return found
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


class _Expected(NamedTuple):
    """Outputs, as numbers.

    Attributes:
        values: The numbers.
        eps: Machine epsilon of their type.
        sizes: The largest number of each row.
    """

    values: Float64[np.ndarray, "n c"]
    eps: float
    sizes: Float64[np.ndarray, "n 1"]

    @classmethod
    def of(cls, outputs: AnyArray) -> "_Expected":
        """Read outputs of a network."""
        values = values_of(outputs)
        sizes = np.abs(values).max(axis=1, keepdims=True)
        return cls(values, float(jnp.finfo(outputs.dtype).eps), sizes)


def _replaced(rows: Inputs, others: Inputs) -> Iterator[tuple[np.ndarray, Inputs]]:
    """Groups of rows, and all rows with others in the place of the group."""
    num = len(jax.tree.leaves(rows)[0])
    for group in _groups(num):
        yield group, _replace(rows, group, others)


def _value_crosses_rows(
    forward: Apply,
    params: Params,
    batches: Iterator[tuple[np.ndarray, Inputs]],
    expected: _Expected,
) -> bool | None:
    """Return whether an output row moves when other rows change; None if not finite.

    Runs one program again and so allows rounding alone. Rows far away show a function
    of the batch that has steps.
    """
    allowed, known = 100 * expected.eps * expected.sizes, True
    for group, batch in batches:
        outputs = values_of(forward(params, batch))
        with np.errstate(invalid="ignore", over="ignore"):
            if (np.abs(outputs - expected.values) > allowed)[~group].any():
                return True
        known = known and bool(np.isfinite(outputs[~group]).all())
    return False if known else None


def _value_needs_the_batch(
    alone: Apply, params: Params, rows: Inputs, expected: _Expected
) -> bool:
    """Return whether the first or last output row is another one without the others.

    Runs another program, whose rounding may differ at reduced precision.
    """
    allowed = 0.05 * expected.sizes + expected.eps**0.5
    for i in (0, len(expected.values) - 1):
        row = jax.tree.map(lambda leaf, i=i: leaf[i : i + 1], rows)
        found = values_of(alone(params, row))[0]
        with np.errstate(invalid="ignore", over="ignore"):
            if (np.abs(found - expected.values[i]) > allowed[i]).any():
                return True
    return False


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
