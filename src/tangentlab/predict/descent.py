r"""Gradient descent on square loss, any number of steps at once.

>>> import numpy as np
>>> K, y = np.diag([2.0, 1.0]), np.array([1.0, 1.0])
>>> gradient_descent(K, y, 2, 1.0).outputs.tolist()
[1.0, 0.75]
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .checking import check_times
from .problem import Kernel, Outputs, Problem, inverse, pose, solve
from .rates import stable_rate
from .record import Solution

_LARGEST = 1e100  # coefficient whose square is a number, too


def gradient_descent(
    K: Kernel,
    y: Outputs,
    steps: Any,
    learning_rate: float,
    *,
    momentum: float = 0.0,
    nesterov: bool = False,
    f_0: Outputs | None = None,
    ridge: float = 0.0,
) -> Solution:
    r"""The linearized network after full-batch gradient descent, any number of steps.

    On the mean square loss $\frac{1}{2n} \sum_i \|f(x_i) - y_i\|^2$; without momentum
    the residual after $k$ steps is $(I - \frac{\eta}{n} K)^k (f_0 - y)$. The heavy ball
    is $v \leftarrow m v + \nabla L$, $\theta \leftarrow \theta - \eta v$, Nesterov's
    momentum $\theta \leftarrow \theta - \eta (\nabla L + m v)$, from $v = 0$, as in
    `tl.Recipe` and optax. For small rates the time of `gradient_flow` is $t = \eta k /
    (1 - m)$: momentum adds up the gradients of about $1 / (1 - m)$ steps.

    Steps are not taken one by one: the step, an affine map of coefficient and velocity
    in each mode, is doubled as often as the number of steps has binary digits, with an
    error that grows with these digits alone.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or `decompose(K)`.
        y: Targets, (n,) or (n, c).
        steps: A number of steps, or an array of them; infinity is the limit.
        learning_rate: $\eta$; the iterates grow without bound from
            `max_learning_rate(K)` on, and are returned as long as they are numbers.
        momentum: $m$ in [0, 1).
        nesterov: Nesterov's momentum instead of the heavy ball.
        f_0: Outputs before training; 0 by default.
        ridge: Added to the diagonal of `K`: the gradient of a penalty of
            $\frac{\text{ridge}}{2n} \|\theta - \theta_0\|^2$, and a jitter.

    Returns:
        The solution, step counts first.

    Raises:
        ValueError: For a rate that is not positive, a momentum outside [0, 1), a number
            of steps that is no whole number, or iterates that overflow, or have no
            limit, because the rate is too large.

    Reference:
        Polyak, "Some methods of speeding up the convergence of iteration methods",
        1964.
    """
    problem = pose(K, y, f_0, ridge)
    counts = _check_steps(steps)
    largest = float(problem.values.max())
    limit = stable_rate(
        largest, problem.n, momentum=momentum, nesterov=nesterov, ridge=problem.ridge
    )
    if np.ndim(learning_rate) or not 0 < learning_rate < np.inf:
        raise ValueError(
            f"`learning_rate` must be one positive number, got {learning_rate}."
        )
    endless = np.isinf(counts)
    taken = np.where(endless, 0, counts).astype(np.int64)
    factors = _descend(problem, taken, learning_rate, momentum, nesterov)
    settles = learning_rate < limit or not endless.any()
    if not (np.abs(factors).max(initial=0.0) < _LARGEST and settles):
        raise ValueError(
            f"Gradient descent with a learning rate of {learning_rate:g} and "
            f"{momentum:g} momentum diverges on this kernel: it is stable below "
            f"{limit:.6g}. Lower the rate, or ask for fewer steps than "
            f"{counts.max():g}."
        )
    if endless.any():
        factors = np.where(endless[..., None], inverse(problem), factors)
    return solve(problem, factors)


def _check_steps(steps: Any) -> Float[np.ndarray, "..."]:
    counts = check_times("steps", steps)
    whole = np.isinf(counts) | ((counts == np.floor(counts)) & (counts < 2.0**53))
    if not whole.all():
        raise ValueError(f"`steps` must be whole numbers or infinity, got {steps}.")
    return counts


def _descend(
    problem: Problem,
    counts: Int[np.ndarray, "..."],
    rate: float,
    momentum: float,
    nesterov: bool,
) -> Float[np.ndarray, "... s"]:
    r"""Coefficient of each mode, for a residual of 1, after so many steps."""
    # With g = (1 - mu b) / n a step is u <- m u + g and b <- b + rate u, for Nesterov
    # b <- b + rate (g + m u). Kept as what it adds to x = (b, u), x <- x + A x + c,
    # nothing is lost next to the identity however small rate mu / n is. Two of these
    # are A' = 2 A + A^2 and c' = 2 c + A c.
    m, n, mu = momentum, problem.n, problem.rates
    ahead, carried = (rate * (1 + m), rate * m**2) if nesterov else (rate, rate * m)
    one = np.ones_like(mu)
    A = np.stack([-ahead * mu / n, carried * one, -mu / n, (m - 1) * one], axis=-1)
    A = A.reshape(-1, 2, 2)
    c = np.stack([ahead / n * one, one / n], axis=-1)
    x = np.zeros((*counts.shape, len(mu), 2))
    with np.errstate(over="ignore", invalid="ignore"):
        for digit in range(int(counts.max(initial=0)).bit_length()):
            moved = x + (A @ x[..., None])[..., 0] + c
            x = np.where((counts >> digit & 1)[..., None, None], moved, x)
            A, c = 2 * A + A @ A, 2 * c + (A @ c[..., None])[..., 0]
    return x[..., 0]
