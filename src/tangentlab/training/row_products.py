r"""Convolutions of few channels as products of matrices.

A CPU runs them at a few percent of its speed; and `vmap` over the weights of a
convolution is a grouped convolution, which runs at a few percent of an accelerator's
speed. Some neighbors in a row of the result are a product of a patch of the input with
a matrix in which the window is repeated along a band,

$$y[r, (x, o)] = \sum_u \sum_{p, i} a[r + u, (p, i)] \, B_u[(p, i), (x, o)],
\qquad B_u[(p, i), (x, o)] = W[u, p - x, i, o],$$

more arithmetic, the more neighbors the more, in products that are large, and batched
where there are many networks. Images that all networks see are another matter: one
convolution gives the channels of all of them. A step of 32 LeNets on 32 x 32 images
takes 1.3 ms on an H200 in place of 3.8; a step of one takes 23 ms on 2 CPU cores in
place of 42, where only the values are found this way and derivatives are left to the
convolution.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array

from .._types import Params
from ..kernels.compat import Body, body_of, evaluator, inner_call, is_literal
from ..kernels.planning import backend
from ..models import Model


class Few(NamedTuple):
    """Which convolutions become products, and of what size.

    Attributes:
        channels_in: The most channels a convolution may take.
        channels_out: The most it may give.
        neighbors: Results in a row that are computed together, about; all of them by
            default.
        columns: The fewest results in a row.
        excess: The most times its own arithmetic that a product may take.
        values_only: Leave derivatives to the convolution.
        channels_least: The fewest channels a convolution may take.
    """

    channels_in: int
    channels_out: int
    neighbors: int | None = None
    columns: int = 1
    excess: int = 16
    values_only: bool = False
    channels_least: int = 1


_IMAGES = 4  # channels that they have at most
_MANY = Few(63, 63)
_ONE_ON_CPU = Few(_IMAGES, 15, neighbors=4, columns=16, values_only=True)
_MANY_ON_CPU = Few(63, 63, neighbors=4, columns=16)


def for_one(network: Callable[[Params], Model]) -> Callable[[Params], Model]:
    """Prepare a network for being trained alone.

    Args:
        network: From initial parameters to the network.

    Returns:
        The same with row products on a CPU, for convolutions of very few channels; on
        an accelerator the network as it is.
    """
    return _prepared(network, _ONE_ON_CPU) if backend() == "cpu" else network


def for_many(
    network: Callable[[Params], Model], *, same_images: bool = False
) -> Callable[[Params], Model]:
    """Prepare a network for being trained many times at once.

    Args:
        network: From initial parameters to the network.
        same_images: Whether all of them see the same batches. On an accelerator the
            images are then left to one convolution for all.

    Returns:
        The same with row products.
    """
    if backend() == "cpu":
        return _prepared(network, _MANY_ON_CPU)
    least = _IMAGES + 1 if same_images else 1
    return _prepared(network, _MANY._replace(channels_least=least))


def _prepared(
    network: Callable[[Params], Model], few: Few
) -> Callable[[Params], Model]:
    def prepared(start: Params) -> Model:
        model = network(start)
        return model._replace(
            apply=with_row_products(model.apply, few),
            apply_train=with_row_products(model.apply_train, few),
            freeze=lambda state: with_row_products(model.freeze(state), few),
        )

    return prepared


def with_row_products(function: Callable[..., Any], few: Few) -> Callable[..., Any]:
    """The same function, with convolutions of few channels as products of matrices.

    Args:
        function: Any function of arrays.
        few: Which convolutions.

    Returns:
        A function of the same arguments, equal to rounding. Convolutions inside loops,
        `jax.checkpoint` and custom derivatives stay as they are.
    """

    def rewritten(*arguments: Any) -> Any:
        traced, like = jax.make_jaxpr(function, return_shape=True)(*arguments)
        results = _evaluate(body_of(traced), jax.tree.leaves(arguments), few)
        return jax.tree.unflatten(jax.tree.structure(like), results)

    return rewritten


def _evaluate(body: Body, arguments: Sequence[Any], few: Few) -> list[Any]:
    values = {**body.constants, **dict(zip(body.inputs, arguments, strict=True))}

    def value(atom):
        return atom.val if is_literal(atom) else values[atom]

    for equation in body.equations:
        operands = [value(atom) for atom in equation.invars]
        inner = inner_call(equation)
        name = equation.primitive.name
        if inner is not None and not name.startswith(("remat", "checkpoint")):
            made = _evaluate(inner, operands, few)
        elif name == "conv_general_dilated" and _is_small(equation, few):
            rows = partial(_convolve, params=equation.params, few=few)
            if few.values_only:
                rows = _values_only(rows, evaluator(equation))
            made = [rows(*operands)]
        else:
            made = evaluator(equation)(*operands)
        values.update(zip(equation.outvars, made, strict=True))
    return [value(atom) for atom in body.outputs]


def _is_small(equation: Any, few: Few) -> bool:
    """Whether a convolution is over images, without groups, and of few channels."""
    params, numbers = equation.params, equation.params["dimension_numbers"]
    x, weight = (atom.aval.shape for atom in equation.invars)
    plain = params["feature_group_count"] == params["batch_group_count"] == 1
    if not plain or len(x) != 4 or tuple(params["lhs_dilation"]) != (1, 1):
        return False
    given, taken = (weight[axis] for axis in numbers.rhs_spec[:2])
    if not few.channels_least <= taken <= few.channels_in or given > few.channels_out:
        return False
    wide = weight[numbers.rhs_spec[3]]
    columns = equation.outvars[0].aval.shape[numbers.out_spec[3]]
    if columns < few.columns:
        return False
    together = _together(columns, few)
    across, apart = params["window_strides"][1], params["rhs_dilation"][1]
    return _side(together, wide, across, apart) <= few.excess * wide


def _values_only(
    rows: Callable[..., Array], convolution: Callable[..., Sequence[Array]]
) -> Callable[..., Array]:
    """Values by row products, derivatives by the convolution."""

    def derivative(primals, tangents):
        parts = [
            convolution(*primals[:place], tangent, *primals[place + 1 :])[0]
            for place, tangent in enumerate(tangents)
            if not isinstance(tangent, SymbolicZero)
        ]
        return values(*primals), reduce(jnp.add, parts)

    values = jax.custom_jvp(rows)
    values.defjvp(derivative, symbolic_zeros=True)
    return values


def _convolve(x: Array, weight: Array, params: dict[str, Any], few: Few) -> Array:
    numbers = params["dimension_numbers"]
    x = x.transpose([numbers.lhs_spec[i] for i in (0, 2, 3, 1)])
    weight = weight.transpose([numbers.rhs_spec[i] for i in (2, 3, 1, 0)])
    (down, across), (apart_down, apart) = (
        params["window_strides"],
        params["rhs_dilation"],
    )
    edges = ((0, 0), *params["padding"], (0, 0))
    zero = jnp.zeros((), x.dtype)
    x = jax.lax.pad(x, zero, [(low, high, 0) for low, high in edges])
    tall, wide = weight.shape[:2]
    last = down * (_places(x.shape[1], tall, down, apart_down) - 1)
    columns = _places(x.shape[2], wide, across, apart)
    together = _together(columns, few)
    side = _side(together, wide, across, apart)
    x = _parts(x, 1, range(0, apart_down * tall, apart_down), last + 1, down)
    x = _parts(x, 3, range(0, across * columns, across * together), side)
    made = jnp.einsum(
        "yrgupi,upixo->yrgxo",
        x,
        _banded(weight, together, across, apart),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    made = made.reshape(*made.shape[:2], columns, -1)
    back = np.argsort([numbers.out_spec[i] for i in (0, 2, 3, 1)])
    return made.transpose(back)


def _parts(x: Array, axis: int, starts: range, length: int, stride: int = 1) -> Array:
    """Slices of equal length along an axis, along an axis of their own at place 2."""
    cut = jax.lax.slice_in_dim
    found = [cut(x, start, start + length, stride, axis) for start in starts]
    return jnp.stack(found, 2)


def _banded(weight: Array, places: int, stride: int, dilation: int) -> Array:
    """The window at each of some places along a row, zero elsewhere."""
    wide = weight.shape[1]
    to, tap = np.arange(places)[None], np.arange(wide)[:, None]
    chosen = np.zeros((_side(places, wide, stride, dilation), places, wide))
    chosen[stride * to + dilation * tap, to, tap] = 1
    exact = jax.lax.Precision.HIGHEST
    ones = jnp.asarray(chosen, weight.dtype)
    return jnp.einsum("pxv,uvio->upixo", ones, weight, precision=exact)


def _places(side: int, window: int, stride: int, dilation: int) -> int:
    """How many places a window has along an axis."""
    return (side - dilation * (window - 1) - 1) // stride + 1


def _side(places: int, window: int, stride: int, dilation: int) -> int:
    """What a window takes at so many places along an axis."""
    return stride * (places - 1) + dilation * (window - 1) + 1


def _together(columns: int, few: Few) -> int:
    """How many results in a row are computed together: a divisor of their number."""
    aim = few.neighbors or columns
    divisors = [d for d in range(1, columns + 1) if columns % d == 0]
    return min(divisors, key=lambda d: abs(math.log(d / aim)))
