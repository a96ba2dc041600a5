r"""The hard-margin classifier, to which cross-entropy turns.

>>> import numpy as np
>>> solution = hard_margin(np.diag([1.0, 4.0]), np.array([1.0, -1.0]))
>>> solution.outputs.round(6).tolist(), round(float(solution.squared_norm), 6)
([1.0, -1.0], 1.25)
"""

import numpy as np
import scipy
from jaxtyping import Float, Real

from .._types import AnyArray
from .checking import check_tolerance
from .problem import Kernel, Problem, pose
from .record import Solution


def hard_margin(
    K: Kernel, y: Real[AnyArray, " n"], *, tolerance: float = 1e-6
) -> Solution:
    r"""The direction in which gradient flow on cross-entropy ends, on separable data.

    $$\min_\theta \|\theta - \theta_0\| \quad \text{with} \quad
    y_i \langle \nabla f(x_i), \theta - \theta_0 \rangle \ge 1$$

    Parameters trained on the logistic loss have no limit, but $(\theta_t - \theta_0) /
    \|\theta_t - \theta_0\|$ has this one, whatever $f_0$: the norm grows like $\log t$
    and outgrows it. There is no intercept beyond what the network's own biases give.
    The dual problem, $\beta_i = y_i \alpha_i$ with $\alpha \ge 0$, is solved as one of
    least distance by non-negative least squares, an active-set method that ends after
    finitely many steps. Cost `O(n^3)` and up to n solves among support vectors: for n
    up to a few thousand.

    Args:
        K: Kernel of the training samples, (n, n): an array, a `TiledGram`, or
            `decompose(K)`.
        y: Labels, -1 and +1.
        tolerance: Largest violation of the optimality conditions: of $y_i f(x_i) \ge
            1$, and of $y_i f(x_i) = 1$ for support vectors.

    Returns:
        The solution, support vectors where coefficients are not zero; the margin is $1
        / \sqrt{\text{squared\_norm}}$. `residuals` holds the violation found.

    Raises:
        ValueError: If labels are not -1 and +1, the kernel cannot separate them, or the
            tolerance is not reached, or not between 0 and 1.

    Reference:
        Soudry et al., "The implicit bias of gradient descent on separable data", 2018
        (arXiv:1710.10345); Lawson and Hanson, "Solving least squares problems", 1974,
        chapter 23.
    """
    check_tolerance(tolerance)
    if np.ndim(y) != 1 or not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(
            "`y` must hold one label -1 or +1 a sample, got shape "
            f"{np.shape(y)} and values {np.unique(y)[:5]}: labels 0 and 1 become "
            "`2.0 * y - 1.0`."
        )
    labels = np.asarray(y, np.float64)
    problem = pose(K, labels)
    V = np.asarray(problem.vectors, np.float64)[:, ~problem.unresolved]
    features = labels[:, None] * V * np.sqrt(problem.values[~problem.unresolved])
    alpha = _least_distance(features, problem)
    outputs = features @ (features.T @ alpha)  # y f, at least 1
    violation = float(
        max((1 - outputs).max(), np.abs(outputs - 1)[alpha > 0].max(initial=0.0))
    )
    if not violation <= tolerance:
        raise ValueError(
            f"No solution with violations below {tolerance:g} was found, only one with "
            f"{violation:.2g}: the kernel (rank {features.shape[1]} of {len(labels)}) "
            "cannot separate these labels, or is too badly conditioned."
        )
    return Solution(
        coefficients=labels * alpha,
        outputs=labels * outputs,
        squared_norm=np.asarray(alpha @ outputs),
        condition=problem.condition,
        num_unresolved=int(problem.unresolved.sum()),
        residuals=np.asarray(violation),
    )


def _least_distance(
    features: Float[np.ndarray, "n r"], problem: Problem
) -> Float[np.ndarray, " n"]:
    r"""Multipliers of the smallest $w$ with margins $\Phi w \ge 1$."""
    # For E = (Phi, h)^T and the u >= 0 that minimizes |E u - e|, with e the last unit
    # vector, w = Phi^T u / (1 - h u) has margins h; no residual means no solution. The
    # scale of h gives h w a norm near 1: that of the interpolating solution.
    kept = ~problem.unresolved
    squared = problem.coordinates[kept, 0] ** 2 / problem.values[kept]
    h = 1 / np.sqrt(squared.sum()) if squared.any() else 1.0
    E = np.vstack([features.T, np.full(len(features), h)])
    u, _ = scipy.optimize.nnls(E, np.eye(len(E))[-1], maxiter=10 * len(features))
    left = 1 - h * u.sum()
    if left > np.finfo(np.float64).eps * len(u):
        return u / (left * h)
    raise ValueError(
        f"The kernel, of rank {features.shape[1]} on {len(features)} samples, cannot "
        "separate these labels: cross-entropy has a finite limit, for which "
        "`tl.predict.loss_flow` at a long time is the way."
    )
