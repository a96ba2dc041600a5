r"""How fast training is known to go.

>>> round(sgd_gradient_bound(100, 0.1, smoothness=1.0, gap=1.0, B=1.0, C=0.5), 3)
0.25
"""

import math

import numpy as np
from jaxtyping import Float

from .._checks import check_same_rows, check_square
from .._types import AnyArray
from .checking import (
    check_at_least,
    check_finite,
    check_not_negative,
    check_positive,
)


def descent_residual_norm(
    K: Float[AnyArray, "n n"],
    residual: Float[AnyArray, " n"],
    num_steps: int,
    rate: float | int,
) -> float:
    r"""Distance from the targets after steps of gradient descent, mode by mode.

    $$\|f_k - y\| = \sqrt{\sum_i \Big(1 - \frac{\eta \mu_i}{n}\Big)^{2 k} (v_i^\top
      r_0)^2}, \qquad r_k = \Big(I - \frac{\eta}{n} K\Big)^k r_0$$

    for the linearized network and the mean square loss $\frac{1}{2 n} \sum_i (f(x_i) -
    y_i)^2$. Arora et al. have the same for wide networks up to a small error, with
    $(1 - \eta \lambda_i)^{2 k}$: their loss is a sum, and their rate ours over $n$.
    Labels in the leading modes are learned first. For the outputs themselves, momentum
    and any number of steps: `tl.predict.gradient_descent`.

    Args:
        K: Gram matrix on the training samples, no $1/n$.
        residual: $r_0 = f_0 - y$, or its negative.
        num_steps: $k$.
        rate: $\eta$.

    Returns:
        The norm of the residual; infinite where a rate above $2 n / \mu_{\max}$ takes
        it beyond all numbers.

    Raises:
        ValueError: If something does not fit or is not finite.

    Reference:
        Arora et al., "Fine-grained analysis of optimization and generalization for
        overparameterized two-layer neural networks", ICML 2019, theorem 4.1.
    """
    check_square("K", K)
    check_same_rows("K", K, "residual", residual)
    check_finite("K", K)
    check_finite("residual", residual)
    check_at_least("num_steps", num_steps, 0)
    check_positive("rate", rate)
    mu, V = np.linalg.eigh(np.asarray(K, np.float64))
    coordinates = V.T @ np.asarray(residual, np.float64)
    with np.errstate(over="ignore"):
        kept = (1 - rate * mu / len(mu)) ** num_steps * coordinates
    return float(np.linalg.norm(kept))


def flow_loss_bound(
    initial_loss: float | int, smallest: float | int, time: float | int, num: int
) -> float:
    r"""Loss of gradient flow from the smallest eigenvalue of its kernel.

    $$L(t) \le L(0)\, \exp(-2 t \lambda / n), \quad \lambda = \min_{s \le t}
      \lambda_{\min}(K_s)$$

    for the mean square loss $\frac{1}{2 n} \sum_i (f(x_i) - y_i)^2$ and any network:
    $\dot f = -\frac1n K_t (f - y)$ with its tangent kernel at each time.

    Args:
        initial_loss: $L(0)$.
        smallest: $\lambda$, the smallest eigenvalue met along the way.
        time: $t$.
        num: $n$, the number of samples.

    Returns:
        The bound on the loss.

    Reference:
        Du et al., "Gradient descent provably optimizes over-parameterized neural
        networks", ICLR 2019, section 3, for a summed loss.
    """
    check_not_negative("initial_loss", initial_loss)
    check_not_negative("smallest", smallest)
    check_not_negative("time", time)
    check_at_least("num", num, 1)
    return initial_loss * math.exp(-2 * time * smallest / num)


def sgd_gradient_bound(
    num_steps: int,
    rate: float | int,
    *,
    smoothness: float | int,
    gap: float | int,
    A: float | int = 0.0,
    B: float | int = 1.0,
    C: float | int = 0.0,
) -> float:
    r"""Squared gradient norm that stochastic gradient descent gets below.

    For $F \ge F^{\inf}$ with $\beta$-Lipschitz gradient, unbiased $\hat g$ with
    $\mathbb E \|\hat g\|^2 \le 2 A (F - F^{\inf}) + B \|\nabla F\|^2 + C$ and a rate
    $\eta \le 1 / (\beta B)$,

    $$\min_{k < K} \mathbb E \|\nabla F(x_k)\|^2 \le \frac{2 (1 + \beta A
      \eta^2)^K}{\eta K} (F(x_0) - F^{\inf}) + \beta C \eta$$

    Args:
        num_steps: $K$.
        rate: $\eta$.
        smoothness: $\beta$.
        gap: $F(x_0) - F^{\inf}$.
        A: As above.
        B: As above.
        C: As above; the variance of the noise where A = 0 and B = 1.

    Returns:
        The bound.

    Raises:
        ValueError: If the rate is above $1 / (\beta B)$.

    Reference:
        Khaled and Richtarik, "Better theory for SGD in the nonconvex world", 2020,
        arXiv 2002.03329, theorem 2.
    """
    check_at_least("num_steps", num_steps, 1)
    check_positive("rate", rate)
    _check_moments(smoothness, gap, A, B, C)
    if rate * smoothness * B > 1:
        raise ValueError(
            f"The bound is for rates up to 1 / (smoothness * B) = "
            f"{1 / (smoothness * B):.3g}, got {rate:g}: lower `rate`."
        )
    growth = (1 + smoothness * A * rate**2) ** num_steps
    return 2 * growth * gap / (rate * num_steps) + smoothness * C * rate


def sgd_steps(
    epsilon: float | int,
    *,
    smoothness: float | int,
    gap: float | int,
    A: float | int = 0.0,
    B: float | int = 1.0,
    C: float | int = 0.0,
) -> tuple[int, float]:
    r"""How many steps, and at which rate, make some gradient small.

    $$K \ge \frac{12 \beta \Delta}{\varepsilon^2} \max\Big\{ B, \frac{12 \Delta
      A}{\varepsilon^2}, \frac{2 C}{\varepsilon^2} \Big\}, \quad \Delta = F(x_0) -
      F^{\inf}$$

    with $\eta = \min\{1 / \sqrt{\beta A K}, 1 / (\beta B), \varepsilon^2 / (2 \beta
    C)\}$ gives $\min_k \mathbb E \|\nabla F(x_k)\|^2 \le \varepsilon^2$: of order
    $\varepsilon^{-4}$ with noise, $\varepsilon^{-2}$ without. (The UBC lecture prints
    the gradient's argument as $X$; it is the iterate $x$.)

    Args:
        epsilon: $\varepsilon$, the norm to get below.
        smoothness: $\beta$.
        gap: $\Delta$.
        A: As in `sgd_gradient_bound`.
        B: Likewise.
        C: Likewise.

    Returns:
        The number of steps, and the rate.

    Reference:
        Khaled and Richtarik, "Better theory for SGD in the nonconvex world", 2020,
        arXiv 2002.03329, corollary 1.
    """
    check_positive("epsilon", epsilon)
    _check_moments(smoothness, gap, A, B, C)
    need = max(B, 12 * gap * A / epsilon**2, 2 * C / epsilon**2)
    steps = max(1, math.ceil(12 * smoothness * gap / epsilon**2 * need))
    rates = [1 / (smoothness * B)]
    rates += [1 / math.sqrt(smoothness * A * steps)] if A else []
    rates += [epsilon**2 / (2 * smoothness * C)] if C else []
    return steps, min(rates)


def _check_moments(
    smoothness: float | int,
    gap: float | int,
    A: float | int,
    B: float | int,
    C: float | int,
) -> None:
    check_positive("smoothness", smoothness)
    check_not_negative("gap", gap)
    check_not_negative("A", A)
    check_positive("B", B)
    check_not_negative("C", C)
