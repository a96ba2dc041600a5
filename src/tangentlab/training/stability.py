r"""How large the learning rate of a linear model may be.

On a quadratic of curvature $\lambda$ the heavy ball is stable if and only if
$\eta \lambda < 2 (1 + \mu)$, and Nesterov's momentum if $\eta \lambda < 2 (1 + \mu) /
(1 + 2 \mu)$. The largest curvature of the mean training loss is $h \mu_1 / n$ with the
largest eigenvalue $\mu_1$ of the Gram matrix of the $n$ training samples, and $h$ that
of the loss: 1 for the square loss, at most 1/4 for cross-entropy. Decay adds to it.

Mini-batches of $B$ samples add noise. A rule of thumb, exact for samples that do not
see each other: a sample's own output must not overshoot, $\eta h \operatorname{tr}(K) /
((1 - \mu)\, n B) < 2$. In simulations the smaller of both limits is right within a
factor of two where all $K_{ii}$ are about equal; a sample whose $K_{ii}$ is far above
their mean overshoots before.
"""

import warnings
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..kernels.planning import free_memory
from ..spectra.checking import finite_message
from ..spectra.krylov import leading, usual_effort
from .dual_checks import check_gram
from .gram_rows import GramLike, GramRows, open_rows
from .losses import LOSSES
from .recipe import Recipe

_ACCURACY = 0.01  # of the largest eigenvalue, for a warning


class RateLimits(NamedTuple):
    """Learning rates from which on a linear model diverges.

    Attributes:
        full_batch: By the largest eigenvalue.
        mini_batch: By the trace, a rule of thumb.
    """

    full_batch: float
    mini_batch: float


def rate_limits(
    largest: float, trace: float, num_train: int, recipe: Recipe
) -> RateLimits:
    """The largest learning rates for a Gram matrix.

    Args:
        largest: Its largest eigenvalue, on the training samples.
        trace: Its trace, on the training samples.
        num_train: Number of training samples.
        recipe: Loss, momentum, decays and batch size.

    Returns:
        Both limits.
    """
    h, mu = LOSSES[recipe.loss].curvature, recipe.momentum
    curvature = h * largest / num_train + recipe.weight_decay + recipe.start_decay
    ahead = 1 + 2 * mu if recipe.nesterov else 1
    noise = h * trace / (num_train * recipe.batch_size)
    if recipe.batch_size == num_train:
        noise = 0.0  # one batch: every step sees the mean
    return RateLimits(
        2 * (1 + mu) / (ahead * curvature) if curvature else float("inf"),
        2 * (1 - mu) / noise if noise else float("inf"),
    )


def limits_of(K: GramLike, num_train: int, recipe: Recipe) -> RateLimits:
    """The largest learning rates of a linearization, from its Gram matrix.

    Args:
        K: The Gram matrix of all samples, train then test, or of the training samples.
        num_train: Number of training samples.
        recipe: Loss, momentum, decays and batch size; SGD.

    Returns:
        Both limits, to about a hundredth.
    """
    diagonal = check_gram(K, K.shape[0])
    rows = open_rows(K, num_train, recipe.batch_size, free_memory())
    return limits_of_rows(rows, float(diagonal[:num_train].sum()), recipe)


def limits_of_rows(rows: GramRows, trace: float, recipe: Recipe) -> RateLimits:
    """The same of a Gram matrix that is open.

    Args:
        rows: The matrix.
        trace: Its trace, on the training samples.
        recipe: Loss, momentum, decays and batch size.

    Returns:
        Both limits.

    Raises:
        ValueError: If the matrix is not finite.
    """
    largest = _largest_eigenvalue(rows, trace)
    return rate_limits(largest, trace, rows.num_train, recipe)


def warn_if_unstable(limits: RateLimits, rate: float, batch_size: int) -> None:
    """Warn if the learning rate is beyond a limit.

    Args:
        limits: The limits.
        rate: The largest learning rate.
        batch_size: Samples in a step.
    """
    if rate < min(limits):
        return
    warnings.warn(
        f"A learning rate of {rate:g} is likely to diverge on the "
        f"linearized model: it is stable below {limits.full_batch:.3g} in full "
        f"batches, and by rule of thumb below {limits.mini_batch:.3g} in batches of "
        f"{batch_size}. Lower the rate or the momentum.",
        stacklevel=3,
    )


def _largest_eigenvalue(rows: GramRows, trace: float) -> float:
    """Of the training samples, to about a hundredth; never above the true one."""
    m = rows.num_train
    # One product with every entry that is used finds those that are not finite.
    finite = jnp.isfinite(rows.product(slice(0, rows.n), _ones(rows)))[:, 0]
    if not finite.all():
        raise ValueError(finite_message(int(finite.argmin())))
    if trace == 0:
        return 0.0

    def product(V):
        V = rows.beside(jnp.asarray(V, rows.dtype))
        return np.asarray(rows.product(slice(0, m), V), np.float64)

    effort = usual_effort(m, 1)
    return float(leading(product, m, 1, tolerance=_ACCURACY, effort=effort).values[0])


def _ones(rows: GramRows) -> Float[Array, "m 1"]:
    return rows.beside(jnp.ones((rows.num_train, 1), rows.dtype))
