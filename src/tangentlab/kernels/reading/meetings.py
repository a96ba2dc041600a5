r"""Where a weight meets data in a product, and what its gradient is made of.

In a matrix product or convolution every example's gradient is a sum of outer products
over positions,

$$\nabla_W f = \sum_p a_p \otimes \delta_p$$

with the input $a$ (or its patches) and the backpropagated $\delta$. A meeting says how
to cut both into `(groups, positions, features)` and how to put the gradient together.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from . import convolutions
from .program import Equation, Program

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
        product: The equation's result from the data and the weight, in a faster way;
            None where there is none.
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
    product: Callable[[Array, Array], Array] | None = None


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
    conv = convolutions.read(params, shapes, out)
    return Meeting(
        1,
        conv.groups,
        conv.positions,
        conv.fan_in,
        conv.fan_out,
        partial(convolutions.patches, conv),
        partial(convolutions.cut_deltas, conv),
        partial(convolutions.gradient, conv),
        partial(convolutions.assemble, conv),
        ("convolution", conv.weight, conv.groups),
        partial(convolutions.product, conv) if convolutions.is_product(conv) else None,
    )
