r"""Convolutions of few channels as products of matrices.

A CPU runs them at a few percent of its speed; and `vmap` over the weights of a
convolution is a grouped convolution, which runs at a few percent of an accelerator's
speed. Some neighbors of the result, in a row or a square, are a product of a patch of
the input with a matrix in which the window stands at each of their places,

$$y[(r, c, o)] = \sum_{q, p, i} a[(q, p, i)] \, B[(q, p, i), (r, c, o)],
\qquad B[(q, p, i), (r, c, o)] = W[q - r, p - c, i, o],$$

more arithmetic, the more neighbors the more, in products that are large, and batched
where there are many networks. Images that all networks see are cut once: one product
gives the channels of all of them, and adds their biases, whose gradients would
otherwise be sums over arrays that lie the wrong way for them. A step of 32 LeNets on
32 x 32 images takes 0.9 ms on an H200, its share of tests included, in place of 3.8 as
`vmap` leaves it. On 2 CPU cores a step of one takes three fifths of the time, with
squares of 4 x 4 results in its first convolution alone: those of more channels, or of
windows of 3 x 3, are faster as they are. One network on an accelerator finds its first
convolution so if it has many channels, with two results in a row.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import jax
from jaxtyping import Array

from .._jaxprs import Body, body_of, evaluator, inner_call, is_literal
from .._types import Params
from ..kernels.planning import backend
from ..models import Model
from .convolving import Few, convolve, fitting

_IMAGES = 4  # channels that they have at most
_ONE = (Few(_IMAGES, 64, columns=2, least_out=32),)
_ONE_ON_CPU = (Few(_IMAGES, 15, rows=4, columns=4, least=8, taps=16),)
_MANY_ON_CPU = (Few(63, 63, columns=4, least=16),)
_MANY = (Few(63, 63),)
_MANY_OF_SAME_IMAGES = (Few(_IMAGES, 63, columns=8, bias=True), *_MANY)


def for_one(network: Callable[[Params], Model]) -> Callable[[Params], Model]:
    """Prepare a network for being trained alone.

    Args:
        network: From initial parameters to the network.

    Returns:
        The same with products for windows over images: on a CPU large ones of few
        channels, on an accelerator those of many channels, whose gradients it would
        compute at a tenth of the speed of others.
    """
    return _prepared(network, _ONE_ON_CPU if backend() == "cpu" else _ONE)


def for_many(
    network: Callable[[Params], Model], *, same_images: bool = False
) -> Callable[[Params], Model]:
    """Prepare a network for being trained many times at once.

    Args:
        network: From initial parameters to the network.
        same_images: Whether all of them see the same batches. On an accelerator there
            is then one product for all.

    Returns:
        The same with row products.
    """
    if backend() == "cpu":
        return _prepared(network, _MANY_ON_CPU)
    return _prepared(network, _MANY_OF_SAME_IMAGES if same_images else _MANY)


def _prepared(
    network: Callable[[Params], Model], ways: Sequence[Few]
) -> Callable[[Params], Model]:
    def prepared(start: Params) -> Model:
        model = network(start)
        return model._replace(
            apply=with_row_products(model.apply, ways),
            apply_train=with_row_products(model.apply_train, ways),
            freeze=lambda state: with_row_products(model.freeze(state), ways),
        )

    return prepared


def with_row_products(
    function: Callable[..., Any], ways: Sequence[Few]
) -> Callable[..., Any]:
    """The same function, with convolutions of few channels as products of matrices.

    Args:
        function: Any function of arrays.
        ways: Which convolutions; of several ways that fit one the first is taken.

    Returns:
        A function of the same arguments, equal to rounding. Convolutions inside loops,
        `jax.checkpoint` and custom derivatives stay as they are.
    """

    def rewritten(*arguments: Any) -> Any:
        def anew(*arguments: Any) -> Any:  # JAX remembers what it traced by identity
            return function(*arguments)

        traced, like = jax.make_jaxpr(anew, return_shape=True)(*arguments)
        results = _evaluate(body_of(traced), jax.tree.leaves(arguments), ways)
        return jax.tree.unflatten(jax.tree.structure(like), results)

    return rewritten


def _evaluate(body: Body, arguments: Sequence[Any], ways: Sequence[Few]) -> list[Any]:
    values = {**body.constants, **dict(zip(body.inputs, arguments, strict=True))}
    sums = _sums_with_bias(body, ways)
    in_sums = {id(convolution) for convolution, _, _ in sums.values()}

    def value(atom):
        return atom.val if is_literal(atom) else values[atom]

    def convolved(equation: Any, few: Few, bias: Array | None = None) -> Array:
        x, weight = map(value, equation.invars)
        return convolve(x, weight, bias, equation.params, few)

    for equation in body.equations:
        if id(equation) in in_sums:
            continue
        inner, few = inner_call(equation), fitting(equation, ways)
        if id(equation) in sums:
            convolution, few, bias = sums[id(equation)]
            made = [convolved(convolution, few, value(bias).reshape(-1))]
        elif few is not None:
            made = [convolved(equation, few)]
        elif inner is not None and not _is_checkpoint(equation):
            made = _evaluate(inner, [value(atom) for atom in equation.invars], ways)
        else:
            made = evaluator(equation)(*map(value, equation.invars))
        values.update(zip(equation.outvars, made, strict=True))
    return [value(atom) for atom in body.outputs]


def _is_checkpoint(equation: Any) -> bool:
    return equation.primitive.name.startswith(("remat", "checkpoint"))


def _sums_with_bias(body: Body, ways: Sequence[Few]) -> dict[int, tuple[Any, Few, Any]]:
    """By the identity of an addition: the convolution, its way, and the bias added."""
    used = [atom for equation in body.equations for atom in equation.invars]
    uses = Counter(atom for atom in [*used, *body.outputs] if not is_literal(atom))
    small, found = {}, {}
    for equation in body.equations:
        few = fitting(equation, ways)
        if few is not None and few.bias and uses[equation.outvars[0]] == 1:
            small[equation.outvars[0]] = equation, few
        elif equation.primitive.name == "add":
            for made, other in permutations(equation.invars):
                if not is_literal(made) and made in small:
                    convolution, few = small[made]
                    if _is_bias(other, convolution):
                        found[id(equation)] = convolution, few, other
    return found


def _is_bias(atom: Any, convolution: Any) -> bool:
    """One number for each channel, of the type of the weights."""
    result, weight = convolution.outvars[0].aval, convolution.invars[1].aval
    channels = convolution.params["dimension_numbers"].out_spec[1]
    wanted = [1] * result.ndim
    wanted[channels] = result.shape[channels]
    return atom.aval.shape == tuple(wanted) and atom.aval.dtype == weight.dtype
