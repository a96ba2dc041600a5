"""The contract of a network: `apply(params, x) -> (n, c)`, row by row.

Row i of the output depends on row i of `x` alone. A kernel of a network that breaks
this, as batch normalization in training mode does, has no meaning.

>>> import jax.numpy as jnp
>>> x = jnp.ones((4, 3))
>>> check_apply(lambda w, x: x @ w, jnp.ones((3, 1)), x)
>>> check_apply(lambda w, x: x @ w, jnp.ones(3), x)  # doctest: +ELLIPSIS
Traceback (most recent call last):
ValueError: `apply` must return shape (n, c), got (4,) for n = 4: add an output axis...
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float64

from .._checks import batch_size
from .._compiling import compiled
from .._types import AnyArray, Apply, Inputs, Params
from . import separate
from .trees import is_differentiable, split_differentiable

_NUM_ENDS = 2
"""How many rows are looked at from either end of a batch."""


def check_apply(apply: Apply, params: Params, x: Inputs) -> None:
    """Raise unless `apply` keeps the contract on a few rows of `x`.

    Looks at the first two and the last two rows, and at each of these in both orders
    with each other. Costs four backward and seven forward passes of at most four rows,
    by one program each; of a function that was checked with these very parameters a
    moment ago, one forward pass. Under `jit` only shapes are checked, since there are
    no values yet.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Its parameters.
        x: A batch: an array, or a pytree of float and integer arrays.

    Raises:
        ValueError: If nothing in `params` is differentiable, the output is not one
            floating-point array (n, c), it is not finite, or its rows depend on other
            rows of `x`.
    """
    check_callable(apply)
    chosen = _both_ends(batch_size("x", x))
    if not any(map(is_differentiable, jax.tree.leaves(params))):
        raise ValueError(
            "`params` holds no floating-point array, so there is nothing to "
            f"differentiate: got {jax.tree.structure(params)}."
        )
    rows = jax.tree.map(lambda leaf: _on_host(leaf[chosen]), x)
    first = jax.tree.map(lambda leaf: leaf[:1], rows)
    if len(chosen) == 1:
        rows = _append(first, _perturb(first))
    original, traced = apply, jax.jit(apply)  # once for every pass
    apply = compiled(traced, runs_once=True)
    for batch in (rows, first):
        try:
            _check_shape(traced, params, batch)
        except Exception:
            _check_shape(traced, params, x)  # says the same of what was passed
            raise
    outputs = apply(params, rows)
    if isinstance(outputs, Tracer):
        return
    _check_finite(_values(outputs)[: len(chosen)], chosen)
    if separate.remembers(original, params, rows):
        return
    eps = float(jnp.finfo(outputs.dtype).eps)
    if (
        _gradient_crosses_rows(traced, params, rows)
        or _value_crosses_rows(apply, params, rows, _values(outputs), eps)
        or _value_needs_the_batch(apply, params, rows, _values(outputs), eps)
    ):
        raise ValueError(
            "`apply` mixes examples: its output for one row changes with the other "
            "rows of `x`, as batch normalization in training mode makes it do. A "
            "kernel needs each row on its own, so freeze the statistics: use "
            "`Model.apply` (initial ones) or `Model.freeze(state)` (those of "
            "training), and in a network of your own the running averages (flax "
            "`use_running_average=True`, haiku `is_training=False`, equinox "
            "`inference_mode`)."
        )
    separate.remember(original, params, rows)


def check_callable(apply: Any) -> None:
    """Raise unless `apply` is a function.

    Args:
        apply: What should be `apply(params, x) -> (n, c)`.

    Raises:
        TypeError: If it cannot be called, as a `Model` cannot.
    """
    if not callable(apply):
        hint = "pass its `.apply`" if hasattr(apply, "apply") else "pass a function"
        raise TypeError(
            "`apply` must be a function `apply(params, x) -> (n, c)`, got "
            f"{type(apply).__name__}: {hint}."
        )


def check_input_shape(x: AnyArray, input_shape: tuple[int, ...]) -> None:
    """Raise unless `x` is a batch of samples of one shape.

    Args:
        x: The batch.
        input_shape: Shape of one sample.

    Raises:
        ValueError: If the axes after the first are not those of `input_shape`.
    """
    shape, input_shape = jnp.shape(x), tuple(input_shape)
    if shape[1:] == input_shape and shape:
        return
    wanted = f"(n, {', '.join(map(str, input_shape))})"
    fix = "add the batch axis with `x[None]`" if shape == input_shape else "reshape it"
    raise ValueError(f"`x` must have shape {wanted}, got {shape}: {fix}.")


def _check_shape(apply: Apply, params: Params, x: Inputs) -> None:
    outputs, num_rows = jax.eval_shape(apply, params, x), batch_size("x", x)
    if len(jax.tree.leaves(outputs)) != 1 or not hasattr(outputs, "shape"):
        raise ValueError(
            "`apply` must return one array (n, c), got a pytree "
            f"{jax.tree.structure(outputs)}: return the outputs alone."
        )
    shape = outputs.shape
    if len(shape) != 2 or shape[0] != num_rows or shape[1] == 0:
        fix = (
            "add an output axis, as in `outputs[:, None]`"
            if shape == (num_rows,)
            else "keep the batch axis first and one axis of outputs"
        )
        raise ValueError(
            f"`apply` must return shape (n, c), got {shape} for n = {num_rows}: {fix}."
        )
    if not jnp.issubdtype(outputs.dtype, jnp.floating):
        raise ValueError(
            f"`apply` must return floating-point outputs, got {outputs.dtype}: return "
            "logits, not classes."
        )


def _both_ends(n: int) -> np.ndarray:
    """Return the indices of the first and the last few of `n` rows, each once."""
    ends = (*range(_NUM_ENDS), *range(n - _NUM_ENDS, n))
    return np.unique([i for i in ends if 0 <= i < n])


def _groups(num_rows: int) -> list[np.ndarray]:
    """Return masks of rows; any row is once in a mask without any given other row."""
    bits = range((num_rows - 1).bit_length())
    masks = [(np.arange(num_rows) >> bit) % 2 == 1 for bit in bits]
    return [side for mask in masks for side in (mask, ~mask)]


def _on_host(leaf: Any) -> Any:
    """Rows as numpy has them, since JAX would compile each step that is taken."""
    leaf = jnp.asarray(leaf)
    numeric = jnp.issubdtype(leaf.dtype, np.number) or leaf.dtype == bool
    return np.asarray(leaf) if numeric and not isinstance(leaf, Tracer) else leaf


def _values(outputs: Any) -> Float64[np.ndarray, "n c"]:
    return np.asarray(outputs).astype(np.float64)


def _check_finite(outputs: Float64[np.ndarray, "n c"], chosen: np.ndarray) -> None:
    bad = ~np.isfinite(outputs).all(axis=1)
    if bad.any():
        raise ValueError(
            "`apply` returned NaN or infinite values for example "
            f"{chosen[int(bad.argmax())]} of `x` ({int(bad.sum())} of the "
            f"{len(chosen)} examples looked at): look for them in the parameters and "
            "in that example."
        )


def _gradient_crosses_rows(apply: Apply, params: Params, rows: Inputs) -> bool:
    """Return whether an output row has a gradient at another row, by no tolerance.

    NaN there decides nothing: a zero cotangent met an infinite derivative.
    """
    floats, others = split_differentiable(rows)

    def forward(params, floats):
        return jax.vjp(
            lambda floats: apply(params, eqx.combine(floats, others)), floats
        )

    def backward(pullback, cotangent):
        return pullback(cotangent)

    outputs, pullback = compiled(forward, runs_once=True)(params, floats)
    pull = compiled(backward, runs_once=True)
    directions = _draws(outputs.shape)
    for group in _groups(len(outputs)):
        cotangent = np.asarray(directions * group[:, None], outputs.dtype)
        (gradient,) = pull(pullback, cotangent)
        for leaf in jax.tree.leaves(gradient):
            outside = np.asarray(leaf)[~group]
            if (np.isfinite(outside) & (outside != 0)).any():
                return True
    return False


def _value_crosses_rows(
    apply: Apply, params: Params, rows: Inputs, expected: np.ndarray, eps: float
) -> bool:
    """Return whether an output row moves when other rows change.

    Runs one program again and so allows rounding alone.
    """
    perturbed = _perturb(rows)
    allowed = 100 * eps * _row_sizes(expected)
    for group in _groups(len(expected)):
        outputs = _values(apply(params, _replace(rows, group, perturbed)))
        if (np.abs(outputs - expected) > allowed)[~group].any():
            return True
    return False


def _value_needs_the_batch(
    apply: Apply, params: Params, rows: Inputs, expected: np.ndarray, eps: float
) -> bool:
    """Return whether the first or last output row is another one without the others.

    Runs another program, whose rounding may differ at reduced precision.
    """
    allowed = 0.05 * _row_sizes(expected) + eps**0.5
    for i in (0, len(expected) - 1):
        row = jax.tree.map(lambda leaf, i=i: leaf[i : i + 1], rows)
        if (np.abs(_values(apply(params, row))[0] - expected[i]) > allowed[i]).any():
            return True
    return False


def _row_sizes(outputs: Float64[np.ndarray, "n c"]) -> Float64[np.ndarray, "n 1"]:
    return np.abs(outputs).max(axis=1, keepdims=True)


def _replace(rows: Inputs, group: np.ndarray, others: Inputs) -> Inputs:
    """Return the rows of `others` where `group` says so, else those of `rows`."""
    order = np.where(group, len(group) + np.arange(len(group)), np.arange(len(group)))
    return jax.tree.map(lambda leaf: leaf[order], _append(rows, others))


def _append(rows: Inputs, more: Inputs) -> Inputs:
    def join(a, b):
        return (np if isinstance(a, np.ndarray) else jnp).concatenate([a, b])

    return jax.tree.map(join, rows, more)


def _draws(shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers in [0.5, 1] by numpy, since JAX would compile a generator."""
    return np.random.default_rng(0).uniform(0.5, 1.0, shape)


def _perturb(rows: Inputs) -> Inputs:
    """Return other values close by; positive numbers and most indices stay valid."""

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
