r"""How fast the tangent kernel of a finite network reaches that of infinite width.

At width $m$ one draw of the weights is off by about $m^{-1/2}$ in relative norm, and
the mean over draws by about $m^{-1}$.
"""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._checks import is_whole
from .._progress import progress_bar
from .._types import AnyArray, PRNGKey
from ..kernels import gram
from .flow import check_array
from .layer import Layer

_NORMAL = 1.96  # standard errors on either side of a 95 % interval


class WidthComparison(eqx.Module):
    r"""Finite tangent kernels beside the infinite one.

    Attributes:
        widths: The widths.
        errors: $\|K_m - K\|_F / \|K\|_F$, for each width and draw.
        mean_errors: The same for the mean of the finite kernels over draws.
        slope: Exponent of the width in `errors`, fitted to their logarithms.
        slope_interval: 95 % interval of that, as far as draws tell.
    """

    widths: tuple[int, ...] = eqx.field(static=True)
    errors: Float[np.ndarray, "w d"]
    mean_errors: Float[np.ndarray, " w"]
    slope: float
    slope_interval: tuple[float, float]


def compare_widths(
    build: Callable[[int], Layer],
    x: AnyArray,
    widths: Sequence[int],
    *,
    key: PRNGKey,
    num_draws: int = 8,
    progress: bool = False,
) -> WidthComparison:
    """Measure how fast the finite Gram matrix reaches the infinite one.

    Args:
        build: Makes the network of a given width, such as `lambda m: fc(2, m)`.
        x: Examples.
        widths: At least two widths.
        key: Random key.
        num_draws: Draws of the weights at each width, at least two.
        progress: Show a progress bar.

    Returns:
        Errors for each width, and the exponent of the width in them.

    Raises:
        TypeError: If arguments are not what they should be, such as in another order.
        ValueError: If there are too few widths or draws to fit anything.
    """
    if not callable(build):
        raise TypeError(
            "`build` makes the network of a given width, such as `lambda m: fc(2, m)`, "
            f"got a {type(build).__name__}."
        )
    check_array("x", x)
    if np.ndim(widths) != 1 or not all(map(is_whole, widths)):
        raise TypeError(
            "`widths` must be whole numbers, such as [64, 256], got a "
            f"{type(widths).__name__} of shape {np.shape(widths)}: arguments are "
            "`compare_widths(build, x, widths, ...)`."
        )
    widths = tuple(int(width) for width in widths)
    if len(set(widths)) < 2 or num_draws < 2:
        raise ValueError(
            "An exponent needs two different `widths` and two draws of each at least, "
            f"got widths {widths} and num_draws={num_draws}."
        )
    errors, mean_errors = np.empty((len(widths), num_draws)), np.empty(len(widths))
    keys = jax.random.split(key, (len(widths), num_draws))
    total = len(widths) * num_draws
    with progress_bar("Widths", total, show=progress, unit="draws") as advance:
        for w, width in enumerate(widths):
            layer = build(width)
            K = np.asarray(layer.ntk(x), np.float64)
            model = layer.model(tuple(x.shape[1:]))
            mean = np.zeros_like(K)
            for d in range(num_draws):
                finite = gram(model.apply, model.init(keys[w, d]), jnp.asarray(x))
                errors[w, d] = _distance(np.asarray(finite, np.float64), K)
                mean += np.asarray(finite, np.float64) / num_draws
                advance(1)
            mean_errors[w] = _distance(mean, K)
    slope, half = _fit(widths, errors)
    return WidthComparison(
        widths, errors, mean_errors, slope, (slope - half, slope + half)
    )


def _distance(finite: np.ndarray, infinite: np.ndarray) -> float:
    return float(np.linalg.norm(finite - infinite) / np.linalg.norm(infinite))


def _fit(widths: tuple[int, ...], errors: np.ndarray) -> tuple[float, float]:
    """Slope of a line through the logarithms, and half its 95 % interval."""
    x = np.log(np.repeat(widths, errors.shape[1]))
    y = np.log(errors.ravel())
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    return slope, float(_NORMAL * np.sqrt(rest @ rest / (len(x) - 2) / (x @ x)))
