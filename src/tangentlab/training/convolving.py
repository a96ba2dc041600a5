"""A convolution of few channels as one product of matrices."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .patches import Window, cut_patches, spread_window


class Few(NamedTuple):
    """Which convolutions become products, and of what size.

    Attributes:
        channels_in: The most channels a convolution may take.
        channels_out: The most it may give.
        rows: Neighbors in a column that are computed together, about.
        columns: Likewise in a row; all of them by default.
        least: The fewest results in a row.
        taps: The fewest pixels of a window.
        excess: The most times its own arithmetic that a product may take.
        bias: Whether the product adds the bias, too, in its own precision.
        least_out: The fewest channels a convolution may give.
    """

    channels_in: int
    channels_out: int
    rows: int = 1
    columns: int | None = None
    least: int = 1
    taps: int = 1
    excess: int = 16
    bias: bool = False
    least_out: int = 1


def fitting(equation: Any, ways: Sequence[Few]) -> Few | None:
    """The first way that an equation fits.

    Args:
        equation: Of a traced function.
        ways: How convolutions may become products.

    Returns:
        The way; None if it is no convolution over images, has groups, or fits none.
    """
    if equation.primitive.name != "conv_general_dilated":
        return None
    params, x = equation.params, equation.invars[0].aval
    plain = params["feature_group_count"] == params["batch_group_count"] == 1
    if not plain or x.ndim != 4 or tuple(params["lhs_dilation"]) != (1, 1):
        return None
    return next((few for few in ways if _is_small(equation, few)), None)


def _is_small(equation: Any, few: Few) -> bool:
    numbers = equation.params["dimension_numbers"]
    x, weight = (atom.aval.shape for atom in equation.invars)
    given, taken = (weight[axis] for axis in numbers.rhs_spec[:2])
    if taken > few.channels_in or not few.least_out <= given <= few.channels_out:
        return False
    sizes, taps = (
        [shape[axis] for axis in spec[2:]]
        for shape, spec in ((x, numbers.lhs_spec), (weight, numbers.rhs_spec))
    )
    windows = _windows(sizes, taps, equation.params, few)
    own, seen = (math.prod(s) for s in (taps, [window.side for window in windows]))
    if windows[1].places < few.least or own < few.taps:
        return False
    return seen <= few.excess * own


def convolve(
    x: Array, weight: Array, bias: Array | None, params: dict[str, Any], few: Few
) -> Array:
    """Convolve images with a window.

    Args:
        x: Images.
        weight: The window.
        bias: One number for each channel of the result, if the product is to add it.
        params: Of the equation that this stands for.
        few: The way it fits.

    Returns:
        What the equation gives, to rounding, and the bias added.
    """
    numbers = params["dimension_numbers"]
    x = x.transpose([numbers.lhs_spec[i] for i in (0, 2, 3, 1)])
    weight = weight.transpose([numbers.rhs_spec[i] for i in (2, 3, 1, 0)])
    down, across = _windows(x.shape[1:3], weight.shape[:2], params, few)
    x = jax.lax.optimization_barrier(x)  # else each of its pixels is found many times
    patches = cut_patches(x, down, across)
    count, together = patches.shape[:3], (down.together, across.together)
    # One axis is summed over: of several, XLA would keep patches in several orders.
    patches = patches.reshape(math.prod(count), -1)
    spread = spread_window(weight, down, across).reshape(patches.shape[1], -1)
    if bias is not None:
        patches, spread = _with_bias(patches, spread, bias)
    made = jnp.matmul(
        patches,
        spread,
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    made = jnp.swapaxes(made.reshape(*count, *together, -1), 2, 3)
    made = made.reshape(len(x), down.places, across.places, -1)
    back = np.argsort([numbers.out_spec[i] for i in (0, 2, 3, 1)])
    return made.transpose(back)


def _with_bias(patches: Array, spread: Array, bias: Array) -> tuple[Array, Array]:
    """A pixel of 1 in each patch, and zeros: fast products have rows of fours."""
    more = 4 - patches.shape[1] % 4
    patches = jnp.pad(patches, ((0, 0), (0, more)), constant_values=1)
    row = jnp.tile(bias, spread.shape[1] // len(bias))[None]
    return patches, jnp.concatenate([spread, jnp.pad(row, ((0, more - 1), (0, 0)))])


def _windows(
    sizes: Sequence[int], taps: Sequence[int], params: dict[str, Any], few: Few
) -> tuple[Window, Window]:
    """Along height and width of images, with neighbors together."""
    strides, dilations = params["window_strides"], params["rhs_dilation"]
    paddings = map(tuple, params["padding"])
    options = zip(sizes, taps, strides, dilations, paddings, strict=True)
    down, across = (Window(*each) for each in options)
    return (
        down._replace(together=_divisor(down.places, few.rows)),
        across._replace(together=_divisor(across.places, few.columns)),
    )


def _divisor(places: int, aim: int | None) -> int:
    """About as many as wanted, but a divisor of their number; all by default."""
    divisors = [d for d in range(1, places + 1) if places % d == 0]
    return min(divisors, key=lambda d: abs(math.log(d / (aim or places))))
