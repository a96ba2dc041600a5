r"""Convolutions of few channels as products of matrices.

A CPU runs them at a few percent of its speed; and `vmap` over the weights of a
convolution is a grouped convolution, which runs at a few percent of an accelerator's
speed. Some neighbors of the result, in a row or a square, are a product of a patch of
the input with a matrix in which the window stands at each of their places,

$$y[(r, c, o)] = \sum_{q, p, i} a[(q, p, i)] \, B[(q, p, i), (r, c, o)],
\qquad B[(q, p, i), (r, c, o)] = W[q - r, p - c, i, o],$$

more arithmetic, the more neighbors the more, in products that are large, and batched
where there are many networks. Images that all networks see are another matter: one
convolution gives the channels of all of them. A step of 32 LeNets on 32 x 32 images
takes 1.3 ms on an H200 in place of 3.8. On 2 CPU cores a step of one takes 24 to 31 ms
in place of 39 to 52, with squares of 4 x 4 results in its first convolution alone:
those of more channels, or of windows of 3 x 3, are faster as they are.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._types import Params
from ..kernels.compat import Body, body_of, evaluator, inner_call, is_literal
from ..kernels.planning import backend
from ..models import Model
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
        channels_least: The fewest channels a convolution may take.
    """

    channels_in: int
    channels_out: int
    rows: int = 1
    columns: int | None = None
    least: int = 1
    taps: int = 1
    excess: int = 16
    channels_least: int = 1


_IMAGES = 4  # channels that they have at most
_MANY = Few(63, 63)
_ONE_ON_CPU = Few(_IMAGES, 15, rows=4, columns=4, least=8, taps=16)
_MANY_ON_CPU = Few(63, 63, columns=4, least=16)


def for_one(network: Callable[[Params], Model]) -> Callable[[Params], Model]:
    """Prepare a network for being trained alone.

    Args:
        network: From initial parameters to the network.

    Returns:
        The same with products on a CPU, for large windows over images; on
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
            made = [_convolve(*operands, params=equation.params, few=few)]
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
    pads = [low + high for low, high in params["padding"]]
    sizes = [
        x[axis] + pad for axis, pad in zip(numbers.lhs_spec[2:], pads, strict=True)
    ]
    taps = [weight[axis] for axis in numbers.rhs_spec[2:]]
    windows = _windows(sizes, taps, params, few)
    own, seen = (math.prod(s) for s in (taps, [window.side for window in windows]))
    if windows[1].places < few.least or own < few.taps:
        return False
    return seen <= few.excess * own


def _convolve(x: Array, weight: Array, params: dict[str, Any], few: Few) -> Array:
    numbers = params["dimension_numbers"]
    x = x.transpose([numbers.lhs_spec[i] for i in (0, 2, 3, 1)])
    weight = weight.transpose([numbers.rhs_spec[i] for i in (2, 3, 1, 0)])
    edges = ((0, 0), *params["padding"], (0, 0))
    zero = jnp.zeros((), x.dtype)
    x = jax.lax.pad(x, zero, [(low, high, 0) for low, high in edges])
    down, across = _windows(x.shape[1:3], weight.shape[:2], params, few)
    made = jnp.einsum(
        "nRCqpi,qpirco->nRrCco",
        cut_patches(x, down, across),
        spread_window(weight, down, across),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    made = made.reshape(len(x), down.places, across.places, -1)
    back = np.argsort([numbers.out_spec[i] for i in (0, 2, 3, 1)])
    return made.transpose(back)


def _windows(
    sizes: Sequence[int], taps: Sequence[int], params: dict[str, Any], few: Few
) -> tuple[Window, Window]:
    """Along height and width of padded images, with neighbors together."""
    options = zip(
        sizes, taps, params["window_strides"], params["rhs_dilation"], strict=True
    )
    down, across = (Window(*each) for each in options)
    return (
        down._replace(together=_divisor(down.places, few.rows)),
        across._replace(together=_divisor(across.places, few.columns)),
    )


def _divisor(places: int, aim: int | None) -> int:
    """About as many as wanted, but a divisor of their number; all by default."""
    divisors = [d for d in range(1, places + 1) if places % d == 0]
    return min(divisors, key=lambda d: abs(math.log(d / (aim or places))))
