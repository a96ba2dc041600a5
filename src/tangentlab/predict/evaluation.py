"""A solution at other samples.

>>> import numpy as np
>>> from tangentlab.predict import ridgeless
>>> solution = ridgeless(np.eye(2), np.array([1.0, 3.0]))
>>> evaluate(solution, np.array([[0.5, 0.5]])).tolist()
[2.0]
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from ..spectra.multiplying import multiply
from .checking import check_rectangle, check_start, check_values
from .problem import TestOutputs, flat
from .record import Solution

CrossKernel = Float[Any, "m n"] | Float[Any, "m c n c"] | Callable[[np.ndarray], Any]
"""Kernel between test and training samples, or the function that multiplies with it."""


def evaluate(
    solution: Solution, K_test: CrossKernel, f_0: TestOutputs | None = None
) -> Float[np.ndarray, "..."]:
    r"""Predictions, $f(x) = f_0(x) + \Theta(x, X)\, \beta$.

    Args:
        solution: What any function of `tl.predict` returned.
        K_test: Kernel between m test samples and the n training samples, such as
            `tl.gram(apply, params, x_test, x)`: (m, n), or (m, c, n, c) between
            outputs; an array or a `TiledGram`; or a function of (n, k), or (n, c, k)
            between outputs, that multiplies with it, such as `lambda V:
            tl.kernel_product(apply, params, x_test, x, V)`.
        f_0: Outputs before training at the test samples; needed if and only if the
            solution was computed with `f_0`.

    Returns:
        Predictions, (m,) or (m, c), after the axes of the solution's times.

    Raises:
        TypeError: If an argument is traced, as under `jax.jit`.
        ValueError: If the kernel is of other training samples or holds NaN, or `f_0`
            is missing on one of both sides.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025), where $f_0$ is 0 on some
        slides.
    """
    if (f_0 is not None) != solution.has_start:
        one, other = "with", "without"
        if not solution.has_start:
            one, other = other, one
        raise ValueError(
            f"The solution was computed {one} `f_0`, but is evaluated {other} it: pass "
            "the network's outputs before training on both sides, or on none."
        )
    check_values(K_test, f_0)
    made = _product(K_test, solution)
    start = check_start(f_0, made.shape[made.ndim - solution.num_axes :])
    return made if start is None else made + start


def _product(K_test: Any, solution: Solution) -> np.ndarray:
    """The kernel times the coefficients, times first."""
    beta, shape, side = solution.coefficients, solution.shape, solution.side
    times = beta.shape[: beta.ndim - len(shape)]
    first = range(len(times))
    rows = np.moveaxis(beta, first, range(-len(times), 0))  # (n, c, ...) or (n, k, ...)
    if callable(K_test):
        product = K_test(rows.reshape(*side, -1))
        check_values(product)
        made = np.asarray(product, np.float64)
        _check_product(made, side)
        others = made.shape[: len(side)]
    else:
        call = "gram_full" if solution.is_full else "gram"
        call = f"tl.{call}(apply, params, x_test, x)"
        others = check_rectangle("K_test", K_test, side, call)
        made = multiply(flat(K_test), rows.reshape(math.prod(side), -1))
    if not np.isfinite(made).all():
        raise ValueError(
            "The product with `K_test` holds NaN or infinite entries: look for NaN in "
            "the kernel, or in the samples that it was computed from."
        )
    made = made.reshape(*others, *shape[len(others) :], *times)
    return np.moveaxis(made, range(made.ndim - len(times), made.ndim), first)


def _check_product(made: np.ndarray, side: tuple[int, ...]) -> None:
    if made.ndim != len(side) + 1 or made.shape[1:-1] != side[1:]:
        wanted = ", ".join(["m", *map(str, side[1:]), "k"])
        raise ValueError(
            f"`K_test` must return ({wanted}) for vectors as columns, got shape "
            f"{made.shape}."
        )
