r"""Modes of a sample for eigenlearning, and test error from training data alone.

>>> import numpy as np
>>> y = np.array([1.0, 2.0])
>>> round(risk_estimate(np.eye(2), y, ridge=1.0), 9)  # nothing is learned
2.5
"""

import equinox as eqx
import numpy as np
import scipy
from jaxtyping import Float

from .._checks import check_same_rows, check_square
from .._types import AnyArray
from ..spectra import Spectrum, energy
from .checking import check_finite, check_not_negative
from .solving import cholesky


class Modes(eqx.Module):
    r"""A sample's spectrum and target as `predicted_risk` takes them.

    Attributes:
        eigenvalues: $\lambda_j = \mu_j / n$, none below 0.
        energies: $(v_j^\top y)^2 / n$.
        outside: The target's mean square outside of the computed modes; unlearnable,
            pass it as `noise`.
        unresolved: The kernel's trace outside of the computed modes; pass it as
            `unresolved`.
        num_negative: How many eigenvalues were below 0 and are 0 here.
    """

    eigenvalues: Float[np.ndarray, " k"]
    energies: Float[np.ndarray, " k"]
    outside: float
    unresolved: float
    num_negative: int


def modes_of(spectrum: Spectrum, y: Float[AnyArray, " n"]) -> Modes:
    r"""Eigenvalues and target energies with the sample as the distribution.

    Errors are then predicted for all of the sample, training points included: on its
    other points they are larger by about $1 / (1 - n / N)$ for $n$ of $N$ samples. The
    sample must be much larger than the training sets.

    Args:
        spectrum: Of a kernel on the sample, whole or its leading part.
        y: The target there.

    Returns:
        What `predicted_risk` takes.

    Raises:
        ValueError: If the trace of the kernel is unknown, or the target is not finite.

    Reference:
        Simon, Dickens, Karkada and DeWeese, "The eigenlearning framework", TMLR 2023,
        arXiv 2110.03922, on measured spectra.
    """
    if spectrum.trace is None:
        raise ValueError(
            "The spectrum's `trace` is None, so that what it leaves out is unknown: "
            "pass `trace=` where it is computed."
        )
    check_finite("y", y)
    n = spectrum.eigenvectors.shape[0]
    mean_square = float((np.asarray(y, np.float64) ** 2).mean())
    energies = energy(spectrum, y).per_mode * mean_square
    lam = np.maximum(np.asarray(spectrum.mercer, np.float64), 0)
    return Modes(
        eigenvalues=lam,
        energies=energies,
        outside=max(mean_square - float(energies.sum()), 0.0),
        unresolved=max(spectrum.trace / n - float(lam.sum()), 0.0),
        num_negative=int((np.asarray(spectrum.eigenvalues) < 0).sum()),
    )


def risk_estimate(
    K: Float[AnyArray, "n n"], y: Float[AnyArray, " n"], *, ridge: float | int
) -> float:
    r"""Test error of kernel regression from the training set alone.

    $$\frac{n\, y^\top (K + \delta I)^{-2} y}{(\operatorname{tr} (K + \delta
      I)^{-1})^2}$$

    the kernel alignment risk estimate, or generalized cross-validation: the training
    error over $(\delta / n \kappa)^2$, with $\kappa \approx 1 / \operatorname{tr}(K +
    \delta I)^{-1}$. Does not change when the kernel and the ridge are rescaled. With a
    small ridge it read up to 25 % low on digits; `leave_one_out_error` did not.

    Args:
        K: Gram matrix on the training samples, no $1/n$.
        y: Their labels.
        ridge: $\delta$; 0 where `K` is invertible.

    Returns:
        The estimated mean squared error on new noisy labels.

    Reference:
        Jacot et al., "Kernel alignment risk estimator", NeurIPS 2020, arXiv 2006.09796.
    """
    inverse = _inverse(K, y, ridge)
    dual = inverse @ np.asarray(y, np.float64)
    return float(len(dual) * (dual**2).sum() / np.trace(inverse) ** 2)


def leave_one_out_error(
    K: Float[AnyArray, "n n"], y: Float[AnyArray, " n"], *, ridge: float | int
) -> float:
    r"""Mean squared error at each training sample of a fit to all others, exactly.

    $$\frac1n \sum_i \big( [(K + \delta I)^{-1} y]_i \,/\, [(K + \delta I)^{-1}]_{ii}
      \big)^2$$

    One inverse instead of $n$ fits. Where samples differ much in how well others
    predict them, as real data at small ridges do, it is nearer to the test error than
    `risk_estimate`, which has their mean in the denominator.

    Args:
        K: Gram matrix on the training samples, no $1/n$.
        y: Their labels.
        ridge: $\delta$; 0 where `K` is invertible.

    Returns:
        The error, an estimate for $n - 1$ samples without bias.

    Reference:
        Allen, "The relationship between variable selection and data augmentation and a
        method for prediction", Technometrics 1974.
    """
    inverse = _inverse(K, y, ridge)
    dual = inverse @ np.asarray(y, np.float64)
    return float(((dual / np.diagonal(inverse)) ** 2).mean())


def _inverse(
    K: Float[AnyArray, "n n"], y: Float[AnyArray, " n"], ridge: float | int
) -> Float[np.ndarray, "n n"]:
    check_square("K", K)
    check_same_rows("K", K, "y", y)
    check_finite("y", y)
    check_not_negative("ridge", ridge)
    L = cholesky(K, ridge)
    return scipy.linalg.cho_solve((L, True), np.eye(len(L)))
