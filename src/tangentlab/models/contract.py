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

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float64

from .._checks import batch_size
from .._compiling import compiled
from .._hashing import closes_over_tracers
from .._jaxprs import inside_a_trace, lifted
from .._types import AnyArray, Apply, Inputs, Params
from . import separate
from .mixing import (
    append_rows,
    mixes,
    on_host,
    perturb,
    values_of,
    values_still_cross_rows,
)
from .trees import is_differentiable

_NUM_ENDS = 2
"""How many rows are looked at from either end of a batch."""


def check_apply(apply: Apply, params: Params, x: Inputs) -> None:
    """Raise unless `apply` keeps the contract on a few rows of `x`.

    Looks at the first two and the last two rows, and at each of these in both orders
    with each other; with these parameters and with others close by, since what mixes
    may be silent while its last scale is zero. Costs some thirty passes of at most four
    rows, by one program for each direction; of a network that was seen before, whatever
    its parameters, five forward passes. Under `jit` only shapes are checked, since
    there are no values yet.

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
    rows = jax.tree.map(lambda leaf: on_host(leaf[chosen]), x)
    first = jax.tree.map(lambda leaf: leaf[:1], rows)
    if len(chosen) == 1:
        rows = append_rows(first, perturb(first))
    try:
        traced = _trace(apply, params, rows)
        _trace(apply, params, first)
    except Exception:
        _trace(apply, params, x)  # says the same of what was passed
        raise
    values = jax.tree.leaves((params, x))
    unknown = any(isinstance(leaf, Tracer) for leaf in values)
    if unknown or closes_over_tracers(traced) or inside_a_trace():
        return
    program = separate.program_of(traced)
    function, constants = lifted(traced)
    remembered = separate.seen(program)
    passes = remembered or compiled(function, runs_once=True)
    # On the host, since they may lie on other devices than the parameters.
    forward = partial(passes, list(map(on_host, constants)))
    outputs = forward(params, rows)
    _check_finite(values_of(outputs)[: len(chosen)], chosen)
    if (
        values_still_cross_rows(forward, params, rows, outputs)
        if remembered
        else mixes(_anew(apply), forward, params, rows, outputs)
    ):
        raise ValueError(
            "`apply` mixes examples: its output for one row changes with the other "
            "rows of `x` or their number, as batch normalization in training mode, a "
            "mean over the batch, or dropout with one key for all rows do. A kernel "
            "needs each row on its own, so freeze the statistics: use `Model.apply` "
            "(initial ones) or `Model.freeze(state)` (those of training), and in a "
            "network of your own the running averages (flax "
            "`use_running_average=True`, haiku `is_training=False`, equinox "
            "`inference_mode`)."
        )
    separate.remember(program, passes)


def check_callable(apply: Any) -> None:
    """Raise unless `apply` is a function.

    Args:
        apply: What should be `apply(params, x) -> (n, c)`.

    Raises:
        TypeError: If it cannot be called, as a `Model` cannot, or not with
            parameters, as a flax module.
    """
    flax = any(kind.__module__.startswith("flax.linen") for kind in type(apply).__mro__)
    if flax or not callable(apply):
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


def _anew(apply: Apply) -> Apply:
    """The same as another function: JAX remembers what it traced by identity."""
    return lambda params, x: apply(params, x)


def _trace(apply: Apply, params: Params, x: Inputs) -> Any:
    """The traced network, whose outputs have a shape that they may have."""
    traced, outputs = jax.make_jaxpr(_anew(apply), return_shape=True)(params, x)
    _check_shape(outputs, batch_size("x", x))
    return traced


def _check_shape(outputs: Any, num_rows: int) -> None:
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


def _check_finite(outputs: Float64[np.ndarray, "n c"], chosen: np.ndarray) -> None:
    bad = ~np.isfinite(outputs).all(axis=1)
    if bad.any():
        raise ValueError(
            "`apply` returned NaN or infinite values for example "
            f"{chosen[int(bad.argmax())]} of `x` ({int(bad.sum())} of the "
            f"{len(chosen)} examples looked at): look for them in the parameters and "
            "in that example."
        )
