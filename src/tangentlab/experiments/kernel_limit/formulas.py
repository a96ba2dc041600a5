r"""Closed forms of the lectures beside Gaussian integrals, and random units.

A closed form and its integral share no code: one is trigonometry, the other adaptive
quadrature.
"""

import numpy as np
from jaxtyping import Float

from ... import theory

_MARKS = np.array([-0.7, 0.0, 0.3, 0.6, 0.9])


def lecture_kappa(xi: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    r"""$\kappa$ as the CentraleSupelec lecture prints it.

    $$\frac{2 \xi}{\pi} (\pi - \arccos \xi) + \frac{\sqrt{1 - \xi^2}}{\pi}$$

    Args:
        xi: Cosines.

    Returns:
        Twice `tl.theory.relu_kernel_function`, if that is right.
    """
    return 2 * xi * (np.pi - np.arccos(xi)) / np.pi + np.sqrt(1 - xi**2) / np.pi


def compare_formulas(
    num_cosines: int, num_units: int, seed: int
) -> dict[str, np.ndarray]:
    """Evaluate closed forms, integrals and averages over random units.

    Args:
        num_cosines: Angles of the comparison, evenly spread inside (0, π).
        num_units: Random units of the averages.
        seed: Draws them.

    Returns:
        Curves and marks for the figures; `derivative_error`, `value_error`,
        `kappa_error` and `lecture_error` are the largest differences from quadrature.
    """
    xi = np.cos(np.linspace(np.pi, 0, num_cosines + 2)[1:-1])
    pair = np.stack([xi, np.sqrt(1 - xi**2)], axis=1)
    first = np.array([[1.0, 0.0]])
    closed = [
        np.asarray(theory.arccosine_kernel(pair, first, degree=k))[:, 0] for k in (0, 1)
    ]
    integrals = [
        np.array([theory.relu_expectation(float(c), k) for c in xi]) for k in (0, 1)
    ]
    kappa = xi * integrals[0] + integrals[1]
    ours = np.asarray(theory.relu_kernel_function(xi))
    marks, errors = _average(num_units, seed)
    return {
        "cosines": xi,
        "derivatives": closed[0],
        "derivatives_integral": integrals[0],
        "kappa": ours,
        "kappa_integral": kappa,
        "kappa_lecture": lecture_kappa(xi),
        "marks": _MARKS,
        "marks_kappa": marks,
        "marks_error": errors,
        "derivative_error": _largest(closed[0] - integrals[0]),
        "value_error": _largest(closed[1] - integrals[1]),
        "kappa_error": _largest(ours - kappa),
        "lecture_error": _largest(lecture_kappa(xi) / 2 - kappa),
        "lecture_gap": _largest(lecture_kappa(xi) - kappa),
    }


def _average(num_units: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The kernel of a network of so many units at a few cosines, and its errors."""
    rng = np.random.default_rng(seed)
    weights, a = rng.normal(size=(num_units, 2)), rng.normal(size=num_units)
    pair = np.stack([_MARKS, np.sqrt(1 - _MARKS**2)], axis=1)
    s, t = weights[:, :1], weights @ pair.T
    both = (s > 0) & (t > 0)
    terms = both * (s * t + (a**2)[:, None] * _MARKS[None])
    return terms.mean(axis=0), terms.std(axis=0) / num_units**0.5


def _largest(differences: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(differences).max())
