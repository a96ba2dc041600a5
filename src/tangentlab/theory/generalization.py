r"""What the labels cost in the norm of a kernel, and the bound that follows.

The linearized network that interpolates labels $Y$ from outputs 0 moves by
$\sqrt{Y^\top H^{-1} Y}$; a class of that radius has the Rademacher complexity of
`complexity.py`. For independent samples and a kernel that does not depend on them.

>>> import numpy as np
>>> H, y = np.diag([4.0, 0.25]), np.array([1.0, 1.0])
>>> label_complexity(H, y)
4.25
>>> scale_free_complexity(H, y), scale_free_complexity(16 * H, y)
(2.125, 2.125)
"""

import math

import equinox as eqx
import numpy as np
from jaxtyping import Float

from .._types import AnyArray
from .checking import (
    check_positive,
    check_probability,
    check_signs,
)
from .solving import inverse_forms


class GeneralizationBound(eqx.Module):
    r"""A bound on the error of classification, and what it is made of.

    Attributes:
        value: The bound; 1 and above says nothing.
        complexity: $Y^\top H^{-1} Y$.
        radius: $B$, that of the class, rounded up on the grid.
        class_term: $2 B \sqrt{\operatorname{tr} H} / n$.
        confidence_term: What is paid for the finite sample and the choice of $B$.
    """

    value: float
    complexity: float
    radius: float
    class_term: float
    confidence_term: float


def label_complexity(
    H: Float[AnyArray, "n n"], y: Float[AnyArray, " n"], *, jitter: float | int = 0.0
) -> float:
    r"""Squared distance that a linear model moves to interpolate labels.

    $$Y^\top (H + \epsilon I)^{-1} Y$$

    For outputs $h_0$ at initialization that are not 0, pass $Y - h_0$ (the
    CentraleSupelec lecture drops $h_0$ here). Labels are learnable if this is $o(n)$
    while $H$ stays invertible. A kernel that is singular up to rounding is refused;
    `tl.analysis.kernel_norm` tells what of the labels it leaves out.

    Args:
        H: Gram matrix on the training samples, no $1/n$.
        y: Labels.
        jitter: $\epsilon$, for matrices that rounding makes singular. Any $\epsilon >
            0$ makes the result smaller.

    Returns:
        The complexity, in the inverse of the unit of `H`.

    Raises:
        ValueError: If labels are no vector, or the kernel is singular up to rounding.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025); Arora et al., "Fine-grained
        analysis of optimization and generalization for overparameterized two-layer
        neural networks", ICML 2019, theorem 5.1.
    """
    if np.ndim(y) != 1:
        raise ValueError(
            f"`y` must hold one label a sample, got shape {np.shape(y)}: take a column "
            "at a time."
        )
    return float(inverse_forms(H, np.asarray(y)[:, None], jitter)[0])


def scale_free_complexity(
    H: Float[AnyArray, "n n"], y: Float[AnyArray, " n"], *, jitter: float | int = 0.0
) -> float:
    r"""`label_complexity` in a form that does not change when the kernel is rescaled.

    $$\frac1n \sqrt{Y^\top H^{-1} Y\; \operatorname{tr} H}$$

    Twice this is the leading term of the bound; for $H_{ii} = \frac12$ that is
    $\sqrt{2 Y^\top H^{-1} Y / n}$, as in Arora et al. The lecture's $c \sqrt{Y^\top
    H^{-1} Y / n}$ hides the scale of the kernel in $c$. Never below $\|Y\| / n$, while
    random signs have at least 1 in root mean square.

    Args:
        H: Gram matrix on the training samples.
        y: Labels.
        jitter: As in `label_complexity`.

    Returns:
        The complexity, a pure number for labels without unit.

    Reference:
        Arora et al., "Fine-grained analysis of optimization and generalization for
        overparameterized two-layer neural networks", ICML 2019, theorem 5.1.
    """
    trace = float(np.trace(np.asarray(H, np.float64)))
    return math.sqrt(label_complexity(H, y, jitter=jitter) * trace) / len(y)


def generalization_bound(
    H: Float[AnyArray, "n n"],
    y: Float[AnyArray, " n"],
    failure: float | int,
    *,
    unit: float | int = 1.0,
) -> GeneralizationBound:
    r"""Bound on the classification error of the interpolating linear model.

    With probability at least $1 - \delta$ over $n$ independent labeled samples,

    $$R^{0-1} \le \frac{2 B \sqrt{\operatorname{tr} H}}{n} + 3 \sqrt{\frac{\log(2 k (k +
      1) / \delta)}{2 n}}, \quad k = \Big\lceil \sqrt{Y^\top H^{-1} Y} / u \Big\rceil,\;
      B = k u$$

    by the ramp loss and a union bound over all radii $u, 2u, 3u, \dots$ with shares
    $\delta / k (k + 1)$. Unlike the lecture's it wants no $\lambda$ below the smallest
    eigenvalue, which is not known beforehand. It wants $h_0 = 0$, samples that are
    independent, and a kernel and a unit chosen before these were seen: neither labels
    made of the kernel's own eigenvectors nor a kernel after training qualify.

    Args:
        H: Gram matrix on the training samples.
        y: Their labels, -1.0 and 1.0.
        failure: $\delta$.
        unit: $u$, the step of the grid of radii.

    Returns:
        The bound and its parts.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025), made explicit; Arora et
        al., "Fine-grained analysis of optimization and generalization for
        overparameterized two-layer neural networks", ICML 2019, theorem 5.1.
    """
    check_positive("unit", unit)
    complexity = _checked_complexity(H, y, failure)
    k = max(1, math.ceil(math.sqrt(complexity) / unit))
    shares = 2 * k * (k + 1) / failure
    return _bound(H, complexity, k * unit, shares)


def generalization_bound_above(
    H: Float[AnyArray, "n n"],
    y: Float[AnyArray, " n"],
    failure: float | int,
    *,
    smallest: float | int,
) -> GeneralizationBound:
    r"""The bound for kernels whose smallest eigenvalue is known to be above a number.

    As `generalization_bound` with $u = 1$, where
    $\lambda_{\min}(H) > \lambda$ makes $Y^\top H^{-1} Y \le n / \lambda$ and so leave
    $\lceil \sqrt{n / \lambda} \rceil$ radii:

    $$R^{0-1} \le \frac{2 B \sqrt{\operatorname{tr} H}}{n} + 3 \sqrt{\frac{\log(2 \lceil
      \sqrt{n / \lambda} \rceil / \delta)}{2 n}}, \quad B = \lceil \sqrt{Y^\top H^{-1}
      Y} \rceil$$

    The lecture writes the union over $[0, Y^\top H^{-1} Y]$, where it has to be over
    radii that do not depend on the labels. If $\lambda_{\min}(H) > \lambda$ itself
    holds with probability $1 - \delta$, the bound holds with $1 - 2 \delta$.

    Args:
        H: Gram matrix on the training samples.
        y: Their labels, -1.0 and 1.0.
        failure: $\delta$.
        smallest: $\lambda$, known before the samples were.

    Returns:
        The bound and its parts.

    Raises:
        ValueError: If the smallest eigenvalue of `H` contradicts `smallest`.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025), made explicit; Arora et
        al., "Fine-grained analysis of optimization and generalization for
        overparameterized two-layer neural networks", ICML 2019, theorem 5.1.
    """
    check_positive("smallest", smallest)
    complexity = _checked_complexity(H, y, failure)
    if complexity > len(y) / smallest:
        raise ValueError(
            f"`smallest` = {smallest:g} is not below the smallest eigenvalue of `H`: "
            f"the complexity {complexity:.3g} is above n / smallest = "
            f"{len(y) / smallest:.3g}. Use `generalization_bound`, which needs none."
        )
    radii = math.ceil(math.sqrt(len(y) / smallest))
    radius = max(1, math.ceil(math.sqrt(complexity)))
    return _bound(H, complexity, float(radius), 2 * radii / failure)


def polynomial_complexity_limit(
    power: int, *, coefficient: float | int = 1.0, norm: float | int = 1.0
) -> float:
    r"""Limit of $\sqrt{Y^\top H^{-1} Y}$ for a polynomial target, for every $n$.

    $$y = a (\beta^\top x)^p \;\Rightarrow\; \sqrt{Y^\top H^{-1} Y} \le 3 p |a|
      \|\beta\|^p$$

    for $p = 1$ or $p$ even, unit inputs and `first_layer_kernel`. Sums of such targets
    have sums of limits. Targets of odd degree above 1 are not in the space of the
    kernel, and discontinuous ones, such as signs, have no limit.

    Args:
        power: $p$.
        coefficient: $a$.
        norm: $\|\beta\|$.

    Returns:
        The limit.

    Raises:
        ValueError: If the power is odd and not 1, or below 1.

    Reference:
        Arora et al., "Fine-grained analysis of optimization and generalization for
        overparameterized two-layer neural networks", ICML 2019, theorem 6.1.
    """
    if power < 1 or (power > 1 and power % 2):
        raise ValueError(
            f"`power` must be 1 or even, got {power}: the first-layer ReLU kernel has "
            "no other degrees. Append a constant coordinate for those."
        )
    return 3 * power * abs(coefficient) * norm**power


def _checked_complexity(
    H: Float[AnyArray, "n n"], y: Float[AnyArray, " n"], failure: float
) -> float:
    check_probability("failure", failure)
    check_signs(y)
    return label_complexity(H, y)


def _bound(
    H: Float[AnyArray, "n n"],
    complexity: float | int,
    radius: float | int,
    shares: float,
) -> GeneralizationBound:
    n, trace = H.shape[0], float(np.trace(np.asarray(H, np.float64)))
    fit = 2 * radius * math.sqrt(trace) / n
    confidence = 3 * math.sqrt(math.log(shares) / (2 * n))
    return GeneralizationBound(fit + confidence, complexity, radius, fit, confidence)
