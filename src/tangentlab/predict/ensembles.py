r"""Trained networks over all their initializations.

>>> import numpy as np
>>> kernels = Blocks(np.eye(2), np.array([[0.5, 0.5]]), np.eye(1))
>>> before, after = 0.0, np.inf
>>> ensemble(kernels, kernels, np.ones(2), [before, after]).mean.tolist()
[[0.0], [1.0]]
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .._checks import check_square, is_whole
from ..spectra.checking import as_array
from .checking import check_rectangle, check_times
from .flow import flow_factors
from .gaussian import check_prior, in_modes
from .problem import Outputs, pose
from .record import Posterior


class Blocks(NamedTuple):
    """A kernel on training and test samples.

    Attributes:
        train: Of the training samples, (n, n) or (n, c, n, c); of a tangent kernel also
            `decompose(K)`.
        test_train: Between test and training samples, (m, n) or (m, c, n, c).
        test: Of the test samples, (m, m) or (m, c, m, c); a tangent kernel needs none.
    """

    train: Any
    test_train: Any
    test: Any = None


def split_kernel(K: Float[Any, "n n"], num_train: int) -> Blocks:
    """Cut the kernel of all samples, train then test, into blocks.

    Args:
        K: Kernel of all samples: an array, or a `TiledGram`.
        num_train: How many samples, from the first on, are for training.

    Returns:
        The blocks.

    Raises:
        ValueError: If `K` is not square, or there is nothing to train on or nothing to
            test.
    """
    A: Any = as_array(K)
    check_square("K", A)
    n = A.shape[0]
    if not (is_whole(num_train) and 0 < num_train < n):
        raise ValueError(
            f"`num_train` must be a whole number in 1..{n - 1}, got {num_train}: `K` "
            f"holds {n} samples, train then test."
        )
    return Blocks(
        A[:num_train, :num_train], A[num_train:, :num_train], A[num_train:, num_train:]
    )


def ensemble(
    ntk: Blocks,
    nngp: Blocks,
    y: Outputs,
    t: Any,
    *,
    ridge: float = 0.0,
) -> Posterior:
    r"""Mean and covariance of linearized networks trained by gradient flow.

    Their outputs before training are a Gaussian process with mean 0 and the NNGP kernel
    $\mathcal K$; training with the tangent kernel $\Theta$ for a time $t$ is linear in
    them. With $A_x = \Theta_{xX} \Theta^{-1} (I - e^{-t \Theta / n})$,

    $$\mu(x) = A_x y, \qquad \Sigma(x, x') = \mathcal K_{xx'} + A_x \mathcal K_{XX}
    A_{x'}^\top - A_x \mathcal K_{Xx'} - \mathcal K_{xX} A_{x'}^\top.$$

    This is no posterior: compare `gp_posterior(nngp)`, Bayesian inference, which is
    also `ensemble(nngp, nngp, y, inf)`, networks whose last layer alone is trained; and
    `gp_posterior(ntk)`, the NTK-GP.

    Args:
        ntk: The tangent kernel; its test block is not used.
        nngp: The kernel of outputs before training.
        y: Targets, (n,) or (n, c), for the loss averaged over n samples.
        t: A time, or an array of times, from 0 to infinity.
        ridge: Added to the diagonal of the tangent kernel, as in `gradient_flow`.

    Returns:
        Mean and covariance, times first. Warns (`AccuracyWarning`) as `gradient_flow`
        does.

    Raises:
        ValueError: If the kernels do not fit each other, or hold NaN.

    Reference:
        Lee et al., "Wide neural networks of any depth evolve as linear models under
        gradient descent", 2019 (arXiv:1902.06720), equations 14 to 16.
    """
    problem = pose(ntk.train, y, None, ridge)
    side = problem.side
    others = check_rectangle("ntk.test_train", ntk.test_train, side, "K[test, train]")
    crossed = check_rectangle(
        "nngp.test_train", nngp.test_train, side, "K[test, train]"
    )
    if others != crossed or nngp.test is None:
        raise ValueError(
            "`ntk` and `nngp` must be of the same test samples, and `nngp.test` is "
            f"needed: `test_train` has {others} rows in the one, {crossed} in the "
            f"other, and `nngp.test` is {type(nngp.test).__name__}."
        )
    V = np.asarray(problem.vectors, np.float64)
    prior = check_prior("nngp.test", nngp.test, others)
    within = V.T @ check_prior("nngp.train", nngp.train, side) @ V
    seen, prior_seen = (
        in_modes("ntk.test_train", problem, ntk.test_train),
        in_modes("nngp.test_train", problem, nngp.test_train),
    )
    A = seen * flow_factors(problem, check_times("t", t))[..., None, :]  # (..., m, s)
    mean = A @ problem.coordinates
    crossing = A @ prior_seen.T
    covariance = prior + A @ within @ A.mT - crossing - crossing.mT
    covariance = (covariance + covariance.mT) / 2
    times = A.shape[:-2]
    return Posterior(
        mean.reshape(*times, others[0], *problem.shape[1:]),
        covariance.reshape(*times, *others, *others),
        problem.condition,
        int(problem.unresolved.sum()),
    )
