"""How large a learning rate may be.

>>> import numpy as np
>>> max_learning_rate(np.diag([4.0, 1.0]))
1.0
"""

from .._checks import is_whole
from ..spectra import Spectrum, spectrum
from ..spectra.checking import as_array
from ..training.losses import LossName
from ..training.recipe import Recipe
from ..training.stability import rate_limits
from .checking import check_amount
from .problem import Kernel, flat


def max_learning_rate(
    K: Kernel,
    *,
    num_samples: int | None = None,
    momentum: float = 0.0,
    nesterov: bool = False,
    ridge: float = 0.0,
    loss: LossName = "square",
) -> float:
    r"""The learning rate below which full-batch gradient descent is stable.

    $$\eta_{\max} = \frac{2 (1 + m)\, n}{h \mu_{\max} + \rho}, \qquad
    \text{Nesterov: } \frac{2 (1 + m)\, n}{(1 + 2 m)(h \mu_{\max} + \rho)}$$

    for the loss averaged over $n$ samples, with the largest curvature $h$ of the loss:
    1 for square loss, 1/4 for cross-entropy of one logit, where it is a safe value.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or its spectrum, of which only the largest eigenvalue is used.
        num_samples: n, if `K` is the spectrum of a kernel between outputs.
        momentum: $m$ in [0, 1).
        nesterov: Nesterov's momentum instead of the heavy ball.
        ridge: $\rho$, added to the diagonal of `K`.
        loss: `square` or `cross_entropy`.

    Returns:
        The rate; infinite for a kernel of zeros.

    Raises:
        ValueError: If no eigenvalue is positive or zero, or the number of samples is
            not a positive one.

    Reference:
        Polyak, "Some methods of speeding up the convergence of iteration methods",
        1964. The CentraleSupelec lecture (class 5, January 2025) leaves the condition
        out.
    """
    if isinstance(K, Spectrum):
        largest, n = float(K.eigenvalues[0]), K.eigenvectors.shape[0]
    else:
        largest, n = float(spectrum(flat(K), 1).eigenvalues[0]), as_array(K).shape[0]
    if largest < 0:
        raise ValueError(
            f"`K` is no kernel: its largest eigenvalue is {largest:.3g}, below zero."
        )
    if num_samples is not None and not (is_whole(num_samples) and num_samples > 0):
        raise ValueError(
            f"`num_samples` must be the number of training samples, got {num_samples}."
        )
    return stable_rate(
        largest,
        n if num_samples is None else num_samples,
        momentum=momentum,
        nesterov=nesterov,
        ridge=check_amount("ridge", ridge),
        loss=loss,
    )


def stable_rate(
    largest: float,
    n: int,
    *,
    momentum: float,
    nesterov: bool,
    ridge: float,
    loss: LossName = "square",
) -> float:
    """The same, from the largest eigenvalue.

    Args:
        largest: Of the kernel.
        n: Number of samples.
        momentum: In [0, 1).
        nesterov: Nesterov's momentum instead of the heavy ball.
        ridge: Added to the diagonal.
        loss: `square` or `cross_entropy`.

    Returns:
        The rate.
    """
    recipe = Recipe(
        momentum=momentum, nesterov=nesterov, loss=loss, start_decay=ridge / n
    )
    return rate_limits(largest, 0.0, n, recipe).full_batch
