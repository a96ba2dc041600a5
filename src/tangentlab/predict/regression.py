r"""Kernel regression, with a ridge and without one.

>>> import numpy as np
>>> K, y = np.diag([2.0, 1.0]), np.array([2.0, 2.0])
>>> ridge(K, y, 2.0).outputs.round(3).tolist()
[1.0, 0.667]
>>> fitted = ridgeless(K, y)
>>> fitted.coefficients.tolist(), float(fitted.squared_norm)
([1.0, 2.0], 6.0)
"""

from .problem import Kernel, Outputs, inverse, pose, solve
from .record import Solution


def ridge(
    K: Kernel, y: Outputs, ridge: float, *, f_0: Outputs | None = None
) -> Solution:
    r"""Kernel ridge regression on the residual of a network.

    $$f(x) = f_0(x) + \Theta(x, X)\, (K + \rho I)^{-1} (y - f_0(X))$$

    The minimum over $\theta$ of $\frac{1}{2n} \sum_i \|\hat f_\theta(x_i) - y_i\|^2 +
    \frac{\rho}{2n} \|\theta - \theta_0\|^2$ for the linearized network $\hat f$, and
    the limit of `gradient_flow(..., ridge=rho)`. A penalty $\lambda \|\theta -
    \theta_0\|^2$ beside the mean of squared errors is $\rho = n \lambda$.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or `decompose(K)`, made once for many ridges.
        y: Targets, (n,) or (n, c).
        ridge: $\rho$, added to the diagonal of `K`; 0 is `ridgeless`.
        f_0: Outputs before training; 0 by default.

    Returns:
        The solution. Warns (`AccuracyWarning`) of modes left unlearned because their
        eigenvalue, with the ridge, cannot be told from zero.

    Reference:
        The UBC lecture (CPSC 532S, March 2022), where the limit of no ridge is meant;
        `ridgeless`.
    """
    problem = pose(K, y, f_0, ridge)
    return solve(problem, inverse(problem))


def ridgeless(K: Kernel, y: Outputs, *, f_0: Outputs | None = None) -> Solution:
    r"""The minimum-norm solution: where gradient descent on square loss ends.

    $$\theta_\infty - \theta_0 = J^\top K^{-1} (y - f_0(X)), \qquad
    \|\theta_\infty - \theta_0\|^2 = (y - f_0(X))^\top K^{-1} (y - f_0(X))$$

    Of all parameters that interpolate, those nearest to the start; the limit of ridge
    regression as the ridge goes to 0 (the UBC lecture calls it kernel *ridge*
    regression), and the mean of a Gaussian process with prior mean $f_0$ observed
    without noise. Gradient descent gets there if its learning rate is below
    `max_learning_rate`, a condition that the CentraleSupelec lecture leaves out; it
    also drops $f_0$ on its slides of the kernel and the norm. A singular kernel
    interpolates only what lies in its range: the pseudo-inverse is taken.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or `decompose(K)`.
        y: Targets, (n,) or (n, c).
        f_0: Outputs before training; 0 by default.

    Returns:
        The solution, its `squared_norm` the smallest there is. Warns
        (`AccuracyWarning`) of modes left unlearned.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025), for limit and norm; the UBC
        lecture (CPSC 532S, March 2022), for the ridge.
    """
    problem = pose(K, y, f_0)
    return solve(problem, inverse(problem))
