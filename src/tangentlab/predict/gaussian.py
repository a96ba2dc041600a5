r"""Gaussian process regression with a kernel.

>>> import numpy as np
>>> K, y = np.eye(2), np.array([1.0, 3.0])
>>> half = np.array([[0.5, 0.5]])
>>> posterior = gp_posterior(K, y, half, np.eye(1))
>>> posterior.mean.tolist(), posterior.covariance.tolist()
([2.0], [[0.5]])
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from ..spectra.multiplying import multiply_transposed
from .checking import (
    check_amount,
    check_not_complex,
    check_rectangle,
    check_start,
    shape_of,
)
from .problem import Kernel, Outputs, Problem, TestOutputs, flat, inverse, pose
from .record import Posterior

TestKernel = Float[Any, "m n"] | Float[Any, "m c n c"]
"""Kernel between test and training samples."""

SquareKernel = Float[Any, "m m"] | Float[Any, "m c m c"]
"""Kernel of the test samples."""


def gp_posterior(
    K: Kernel,
    y: Outputs,
    K_test: TestKernel,
    K_test_test: SquareKernel,
    *,
    noise: float = 0.0,
    f_0: Outputs | None = None,
    f_0_test: TestOutputs | None = None,
) -> Posterior:
    r"""A Gaussian process with prior mean $f_0$, given targets.

    $$f_0(x) + \Theta_{xX} (K + \sigma^2 I)^{-1} (y - f_0(X)), \qquad
    \Theta_{xx'} - \Theta_{xX} (K + \sigma^2 I)^{-1} \Theta_{Xx'}$$

    With an infinite network's NNGP kernel this is Bayesian inference over all its
    weights; with its tangent kernel, the NTK-GP of He et al. The mean at zero noise is
    the end of training by gradient descent, `ridgeless`; the covariance is not that of
    trained networks over initializations, which is `ensemble`. Cost `O(n^3)` for the
    decomposition, `O(m n^2 + m^2 n)` for the rest.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or `decompose(K)`.
        y: Targets, (n,) or (n, c).
        K_test: Kernel between test and training samples, (m, n) or (m, c, n, c).
        K_test_test: Kernel of the test samples, (m, m) or (m, c, m, c).
        noise: Variance $\sigma^2$ of the targets, added to the diagonal of `K`.
        f_0: Prior mean at the training samples; 0 by default.
        f_0_test: Prior mean at the test samples; needed if and only if `f_0` is given.

    Returns:
        The posterior of the function, without the noise. Warns (`AccuracyWarning`) of
        modes left out because their eigenvalue cannot be told from zero.

    Raises:
        ValueError: If something does not fit, or is not finite.

    Reference:
        Lee et al., "Deep neural networks as Gaussian processes", 2018
        (arXiv:1711.00165); He, Lakshminarayanan and Teh, "Bayesian deep ensembles via
        the neural tangent kernel", 2020 (arXiv:2007.05864).
    """
    if (f_0 is None) != (f_0_test is None):
        raise ValueError(
            "The prior mean is wanted at training and test samples: pass `f_0` and "
            "`f_0_test`, or neither."
        )
    problem = pose(K, y, f_0, check_amount("noise", noise))
    others = check_rectangle("K_test", K_test, problem.side, "gram(..., x_test, x)")
    prior = check_prior("K_test_test", K_test_test, others)
    factors = inverse(problem)
    seen = in_modes("K_test", problem, K_test)
    mean = seen @ (factors[:, None] * problem.coordinates)
    mean = mean.reshape(others[0], *problem.shape[1:])
    start = check_start(f_0_test, mean.shape, "f_0_test")
    covariance = prior - (seen * factors) @ seen.T
    covariance = (covariance + covariance.T) / 2
    return Posterior(
        mean if start is None else mean + start,
        covariance.reshape(*others, *others),
        problem.condition,
        int(problem.unresolved.sum()),
    )


def in_modes(name: str, problem: Problem, K_test: Any) -> Float[np.ndarray, "m s"]:
    """A kernel between test and training samples, in the modes of the latter.

    Args:
        name: Of the kernel, for the message.
        problem: Whose modes.
        K_test: The kernel.

    Returns:
        A row for each test sample (and output).
    """
    rows = _finite_matrix(name, K_test)
    return np.asarray(multiply_transposed(problem.vectors, rows.T)).T


def check_prior(name: str, K: Any, others: tuple[int, ...]) -> Float[np.ndarray, "m m"]:
    """Raise unless a kernel is one of these samples.

    Args:
        name: Of the argument.
        K: Kernel of some samples.
        others: Their axes, (m,) or (m, c).

    Returns:
        The kernel as a matrix in float64.

    Raises:
        ValueError: If it is of another shape, complex or not finite.
    """
    if shape_of(K) != others * 2:
        raise ValueError(
            f"`{name}` must be a kernel of shape {others * 2}, as the other blocks "
            f"tell, got {shape_of(K)}."
        )
    check_not_complex(name, K)
    return _finite_matrix(name, K)


def _finite_matrix(name: str, K: Any) -> np.ndarray:
    matrix = np.asarray(flat(K), np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"`{name}` holds NaN or infinite entries: look for them in the samples "
            "that the kernel was computed from."
        )
    return matrix
