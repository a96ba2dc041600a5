r"""When to stop.

>>> import numpy as np
>>> K, K_new = np.diag([4.0, 1.0]), np.diag([4.0, 1.0])
>>> found = early_stopping(K, np.array([1.0, 1.0]), K_new, np.array([1.0, 0.0]))
>>> bool(0 < found.time < np.inf), bool(found.loss < found.final_loss)
(True, True)
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import numpy as np
import scipy

from .checking import check_rectangle, check_start, check_targets
from .flow import flow_factors
from .gaussian import TestKernel, in_modes
from .problem import Kernel, Outputs, Problem, TestOutputs, pose

_GRID = 200  # times that are looked at before the best is refined
_BEYOND = 100.0  # times the slowest mode's own; nothing moves after that


class EarlyStopping(eqx.Module):
    r"""The best time on held-out samples.

    Attributes:
        time: Where their loss is smallest, from 0 to infinity.
        loss: $\frac{1}{2m} \sum_i \|f(x_i) - y_i\|^2$ there.
        initial_loss: The same before training.
        final_loss: The same after training for ever.
    """

    time: float
    loss: float
    initial_loss: float
    final_loss: float


def early_stopping(
    K: Kernel,
    y: Outputs,
    K_test: TestKernel,
    y_test: TestOutputs,
    *,
    f_0: Outputs | None = None,
    f_0_test: TestOutputs | None = None,
    ridge: float = 0.0,
) -> EarlyStopping:
    r"""The time of gradient flow with the smallest loss on held-out samples.

    $$t^* = \operatorname{argmin}_{0 \le t \le \infty} \frac{1}{2m} \sum_{i=1}^m
    \|f_t(x_i) - y_i\|^2$$

    with $f_t$ of `gradient_flow`, for the loss averaged over n samples; $m$ are held
    out.

    One decomposition; the loss on 200 times, spaced evenly on a logarithmic scale
    between the time scales of the fastest and the slowest mode, and a search between
    the neighbors of the best. Samples on which a time was chosen tell nothing of the
    error to expect: keep others for that.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or `decompose(K)`.
        y: Targets, (n,) or (n, c).
        K_test: Kernel between held-out and training samples, (m, n) or (m, c, n, c).
        y_test: Targets of the held-out samples.
        f_0: Outputs before training; 0 by default.
        f_0_test: The same at the held-out samples; needed if and only if `f_0` is.
        ridge: Added to the diagonal of `K`, as in `gradient_flow`.

    Returns:
        The time, in the units of `gradient_flow`: learning rate x steps; and losses.

    Raises:
        ValueError: If something does not fit or is not finite, or `f_0` is missing on
            one side.

    Reference:
        Yao, Rosasco and Caponnetto, "On early stopping in gradient descent learning",
        Constructive Approximation 2007.
    """
    if (f_0 is None) != (f_0_test is None):
        raise ValueError(
            "Outputs before training are wanted at training and held-out samples: pass "
            "`f_0` and `f_0_test`, or neither."
        )
    problem = pose(K, y, f_0, ridge)
    check_rectangle("K_test", K_test, problem.side, "gram(..., x_test, x)")
    wanted = check_targets(y_test, "y_test")
    start = check_start(f_0_test, wanted.shape, "f_0_test")
    seen = in_modes("K_test", problem, K_test)
    _check_alike(seen, wanted, problem)
    missing = (wanted if start is None else wanted - start).reshape(len(seen), -1)

    def loss(t: float) -> float:
        factors = flow_factors(problem, np.asarray(t, np.float64))
        error = missing - seen @ (factors[:, None] * problem.coordinates)
        return float((error**2).sum() / (2 * len(wanted)))

    return _best(loss, problem)


def _check_alike(seen: np.ndarray, wanted: np.ndarray, problem: Problem) -> None:
    rows = wanted.size if problem.is_full else len(wanted)
    if rows != len(seen) or wanted.shape[1:] != problem.shape[1:]:
        raise ValueError(
            f"`y_test` of shape {wanted.shape} does not fit {len(seen)} rows of "
            f"`K_test` and targets `y` of shape {problem.shape}."
        )


def _best(loss: Callable[[float], float], problem: Problem) -> EarlyStopping:
    fastest = float(problem.rates.max()) or 1.0  # a kernel of zeros never moves
    slowest = max(float(problem.rates.min()), problem.floor) or fastest
    ends = problem.n / (_BEYOND * fastest), _BEYOND * problem.n / slowest
    grid = np.geomspace(*ends, _GRID)
    times = np.r_[0.0, grid, np.inf]
    losses = np.array([loss(t) for t in times])
    i = int(losses.argmin())
    best, lowest = float(times[i]), float(losses[i])
    if 1 <= i <= _GRID:
        near = np.log([grid[max(i - 2, 0)], grid[min(i, _GRID - 1)]])
        found: Any = scipy.optimize.minimize_scalar(
            lambda s: loss(np.exp(s)), bounds=near, method="bounded"
        )
        if found.fun < lowest:
            best, lowest = float(np.exp(found.x)), float(found.fun)
    return EarlyStopping(best, lowest, float(losses[0]), float(losses[-1]))
