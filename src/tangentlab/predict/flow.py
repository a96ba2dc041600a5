r"""Gradient flow on square loss.

>>> import numpy as np
>>> K, y = np.diag([2.0, 1.0]), np.array([1.0, 1.0])
>>> gradient_flow(K, y, 2 * np.log(2)).outputs.round(3).tolist()
[0.75, 0.5]
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from .checking import check_times
from .problem import Kernel, Outputs, Problem, inverse, pose, solve
from .record import Solution


def gradient_flow(
    K: Kernel,
    y: Outputs,
    t: Any,
    *,
    f_0: Outputs | None = None,
    ridge: float = 0.0,
) -> Solution:
    r"""The linearized network after training by gradient flow for any time.

    On the mean square loss $\frac{1}{2n} \sum_i \|f(x_i) - y_i\|^2$, of which $n$ is
    the number of samples however many outputs there are,

    $$\dot f_X = -\tfrac1n K (f_X - y), \qquad
    f_t(x) = f_0(x) + \Theta(x, X)\, K^{-1} (I - e^{-t K / n}) (y - f_0(X)).$$

    Gradient descent with a small learning rate is at $t$ = learning rate x steps. The
    formula of Jacot et al. and of the UBC lecture has $e^{-tK}$, which belongs to a
    loss that is summed, not averaged: its time is ours over $n$ (one slide also loses
    the $-y$ of the equation). neural-tangents averages over outputs too: its time is
    ours times $c$.

    Args:
        K: Kernel of the training samples, (n, n), shared by all outputs, or (n, c, n,
            c) between them: an array, a `TiledGram`, or `decompose(K)`, made once for
            many calls. One decomposition serves all times.
        y: Targets, (n,) or (n, c).
        t: A time, or an array of times, from 0 to infinity; infinity is the
            minimum-norm solution.
        f_0: Outputs before training; 0 by default.
        ridge: Added to the diagonal of `K`: exactly what a penalty of
            $\frac{\text{ridge}}{2n} \|\theta - \theta_0\|^2$ does, and a jitter.

    Returns:
        The solution, times first. Warns (`AccuracyWarning`) where infinite time would
        divide by eigenvalues that are rounding: these modes stay unlearned.

    Reference:
        Jacot, Gabriel and Hongler, "Neural tangent kernel", 2018 (arXiv:1806.07572).
    """
    problem = pose(K, y, f_0, ridge)
    return solve(problem, flow_factors(problem, check_times("t", t)))


def flow_factors(
    problem: Problem, times: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "... s"]:
    r"""What gradient flow makes of each mode, $(1 - e^{-t \mu / n}) / \mu$.

    Args:
        problem: Targets in the modes of a kernel.
        times: From 0 to infinity.

    Returns:
        Factors, times first.
    """
    endless = np.isinf(times)[..., None]
    past = np.where(endless, 0.0, times[..., None]) / problem.n
    rates, moving = problem.rates, problem.rates > 0
    learned = -np.expm1(-past * rates) / np.where(moving, rates, 1.0)
    factors = np.where(moving, learned, past)
    if not endless.any():
        return factors
    return np.where(endless, inverse(problem), factors)
