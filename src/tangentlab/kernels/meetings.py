r"""Where a weight meets data in a product, and what its gradient is made of.

In a matrix product or convolution every example's gradient is a sum of outer products
over positions,

$$\nabla_W f = \sum_p a_p \otimes \delta_p$$

with the input $a$ (or its patches) and the backpropagated $\delta$. A meeting says how
to cut both into `(groups, positions, features)` and how to put the gradient together.
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .program import Equation, Program

_FEW_FEATURES = 64 * 64  # below, XLA's own transposed convolution is faster on a CPU

Inputs = Float[Array, "g p i"]
Deltas = Float[Array, "g p o"]


class Meeting(NamedTuple):
    """A product of a weight and data, for one example.

    Attributes:
        operand: Which operand of the equation is the weight; the other one is data.
        groups: Independent products side by side.
        positions: Places at which the same weight is used.
        fan_in: Features of the input at one position.
        fan_out: Features of the output at one position.
        inputs: Cuts the data operand into `(groups, positions, fan_in)`.
        deltas: Cuts the gradient of the output into `(groups, positions, fan_out)`.
        gradient: The weight's gradient `(groups, fan_in, fan_out)` from the data
            operand and the cut deltas.
        assemble: Brings `(groups, fan_in, fan_out)` into the weight's shape.
        layout: Equal for two meetings exactly if `assemble` is.
    """

    operand: int
    groups: int
    positions: int
    fan_in: int
    fan_out: int
    inputs: Callable[[Array], Inputs]
    deltas: Callable[[Array], Deltas]
    gradient: Callable[[Array, Deltas], Float[Array, "g i o"]]
    assemble: Callable[[Float[Array, "g i o"]], Array]
    layout: tuple


def meeting(program: Program, equation: Equation) -> Meeting | None:
    """Read an equation as a product of one weight and data.

    Args:
        program: The program the equation is from.
        equation: Any equation.

    Returns:
        The meeting; None where the equation is no such product.
    """
    if len(equation.inputs) != 2 or not program.of_data.intersection(equation.outputs):
        return None
    weights = [i for i in (0, 1) if program.is_weight(equation.inputs[i])]
    data = [i for i in (0, 1) if equation.inputs[i] in program.of_data]
    if len(weights) != 1 or len(data) != 1:
        return None
    dtypes = [program.shapes[i].dtype for i in (*equation.inputs, *equation.outputs)]
    if not all(jnp.issubdtype(dtype, jnp.floating) for dtype in dtypes):
        return None  # complex products have gradients of their own
    shapes = [program.shapes[i].shape for i in equation.inputs]
    if equation.name == "dot_general":
        return _dot(equation.params["dimension_numbers"], shapes, weights[0])
    if equation.name == "conv_general_dilated" and weights[0] == 1:
        out = program.shapes[equation.outputs[0]].shape
        return _convolution(equation.params, shapes, out)
    return None


def _dot(dimension_numbers, shapes, operand: int) -> Meeting:
    contract, batch = dimension_numbers
    d, w = 1 - operand, operand
    free = [
        [i for i in range(len(shapes[k])) if i not in (*contract[k], *batch[k])]
        for k in (0, 1)
    ]
    order_d = (*batch[d], *free[d], *contract[d])
    order_w = (*batch[w], *contract[w], *free[w])
    groups = math.prod(shapes[d][i] for i in batch[d])
    positions = math.prod(shapes[d][i] for i in free[d])
    fan_in = math.prod(shapes[d][i] for i in contract[d])
    fan_out = math.prod(shapes[w][i] for i in free[w])
    sorted_w = [shapes[w][i] for i in order_w]

    def inputs(a):
        return a.transpose(order_d).reshape(groups, positions, fan_in)

    def deltas(delta):  # the free axes of the left operand come first in the output
        if w == 1:
            return delta.reshape(groups, positions, fan_out)
        return delta.reshape(groups, fan_out, positions).swapaxes(1, 2)

    def gradient(a, cut):
        return jnp.einsum("gpi,gpo->gio", inputs(a), cut)

    def assemble(g):
        return g.reshape(sorted_w).transpose(np.argsort(order_w))

    layout = ("dot", order_w, len(batch[w]), len(contract[w]))
    return Meeting(
        operand, groups, positions, fan_in, fan_out, inputs, deltas, gradient, assemble,
        layout,
    )  # fmt: skip


def _convolution(params, shapes, out) -> Meeting | None:
    if params["batch_group_count"] != 1:
        return None
    spec = params["dimension_numbers"]
    lhs, rhs, res = spec.lhs_spec, spec.rhs_spec, spec.out_spec
    groups = params["feature_group_count"]
    window = tuple(shapes[1][i] for i in rhs[2:])
    channels, features = shapes[1][rhs[1]], shapes[1][rhs[0]]
    batch = shapes[0][lhs[0]]
    spatial = [out[i] for i in res[2:]]
    positions = batch * math.prod(spatial)
    size, fan_out = math.prod(window), features // groups

    def shifts(a):
        return _shifted(a.transpose(lhs[0], *lhs[2:], lhs[1]), params, out, window)

    def inputs(a):
        patches = jnp.stack([s.reshape(positions, -1) for s in shifts(a)], axis=1)
        patches = patches.reshape(positions, size, groups, channels)
        return patches.transpose(2, 0, 1, 3).reshape(groups, positions, size * channels)

    def deltas(delta):
        delta = delta.transpose(res[0], *res[2:], res[1])
        return delta.reshape(positions, groups, fan_out).swapaxes(0, 1)

    def gradient(a, cut):
        if jax.default_backend() == "cpu" and channels * fan_out <= _FEW_FEATURES:
            return transposed(a, cut)
        pieces = [
            jnp.einsum("pgi,gpo->gio", s.reshape(positions, groups, channels), cut)
            for s in shifts(a)
        ]
        stacked = jnp.stack(pieces, axis=1)
        return stacked.reshape(groups, size * channels, cut.shape[2])

    def transposed(a, cut):  # the convolution that JAX itself transposes to
        width = cut.shape[2]
        order = (lhs[0], *lhs[2:], lhs[1])
        delta = cut.swapaxes(0, 1).reshape(batch, *spatial, groups * width)

        def convolve(w):
            return jax.lax.conv_general_dilated(
                a.transpose(order),
                w,
                params["window_strides"],
                params["padding"],
                params["lhs_dilation"],
                params["rhs_dilation"],
                _channels_last(len(window)),
                groups,
                precision=params["precision"],
            )

        zero = jnp.zeros((*window, channels, groups * width), a.dtype)
        (g,) = jax.vjp(convolve, zero)[1](delta.astype(a.dtype))
        g = g.reshape(size * channels, groups, width)
        return g.swapaxes(0, 1)

    def assemble(g):
        g = g.reshape(groups, *window, channels, fan_out)
        order = (0, len(window) + 2, len(window) + 1, *range(1, len(window) + 1))
        g = g.transpose(order).reshape(features, channels, *window)
        return g.transpose(np.argsort(rhs))

    layout = ("convolution", rhs, groups)
    return Meeting(
        1, groups, positions, size * channels, fan_out, inputs, deltas, gradient,
        assemble, layout,
    )  # fmt: skip


def _channels_last(rank: int) -> jax.lax.ConvDimensionNumbers:
    data = (0, rank + 1, *range(1, rank + 1))
    return jax.lax.ConvDimensionNumbers(data, (rank + 1, rank, *range(rank)), data)


def _shifted(a, params, out, window) -> list[Array]:
    """The input as each offset of the window sees it: `(batch, *out, channels)`."""
    strides, dilation = params["window_strides"], params["rhs_dilation"]
    spatial = [out[i] for i in params["dimension_numbers"].out_spec[2:]]
    padding = [
        (low, high, inner - 1)
        for (low, high), inner in zip(
            params["padding"], params["lhs_dilation"], strict=True
        )
    ]
    zero = jnp.zeros((), a.dtype)
    padded = jax.lax.pad(a, zero, [(0, 0, 0), *padding, (0, 0, 0)])
    made = []
    for offset in itertools.product(*map(range, window)):
        start = [o * d for o, d in zip(offset, dilation, strict=True)]
        stop = [
            s + (n - 1) * step + 1
            for s, n, step in zip(start, spatial, strides, strict=True)
        ]
        made.append(
            jax.lax.slice(
                padded,
                (0, *start, 0),
                (a.shape[0], *stop, a.shape[-1]),
                (1, *strides, 1),
            )
        )
    return made
