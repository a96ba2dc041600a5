r"""A kernel and targets, read once: in its modes every closed form is diagonal.

$K = V \operatorname{diag}(\mu) V^\top$ decouples square loss into one equation a mode,
so that a method is a factor for each eigenvalue, $\beta = V \operatorname{diag}(\phi)
V^\top (y - f_0)$: $1 / \mu$ for the minimum-norm solution, $1 / (\mu + \rho)$ for ridge
regression, $(1 - e^{-t \mu / n}) / \mu$ for gradient flow.
"""

import dataclasses
import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .._types import AnyArray
from ..spectra import AccuracyWarning, Spectrum, spectrum
from ..spectra.checking import as_array
from ..spectra.multiplying import multiply, multiply_transposed
from .checking import check_amount, check_start, check_targets, check_values
from .record import Solution, assemble

Kernel = Float[Any, "n n"] | Float[Any, "n c n c"] | Spectrum
"""An array, a `TiledGram`, a kernel between outputs, or the decomposition of one."""

Outputs = Float[AnyArray, " n"] | Float[AnyArray, "n k"]
"""Numbers at the training samples, for one output or several."""

TestOutputs = Float[AnyArray, " m"] | Float[AnyArray, "m k"]
"""The same at test samples."""

_EPSILON = float(np.finfo(np.float64).eps)


class Problem(NamedTuple):
    r"""Targets in the modes of a kernel.

    Attributes:
        values: Eigenvalues $\mu$ of the kernel; negative ones are zero here.
        vectors: Eigenvectors as columns, wherever they are.
        coordinates: $V^\top (y - f_0)$.
        floor: Eigenvalues up to this cannot be told from zero.
        ridge: What is added to the diagonal.
        f_0: Outputs at the start, or None.
        shape: Of the targets.
        is_full: Whether modes mix the outputs.
    """

    values: Float[np.ndarray, " s"]
    vectors: Any
    coordinates: Float[np.ndarray, "s k"]
    floor: float
    ridge: float
    f_0: Float[np.ndarray, "..."] | None
    shape: tuple[int, ...]
    is_full: bool

    @property
    def n(self) -> int:
        """Number of samples, over which the loss is averaged."""
        return self.shape[0]

    @property
    def side(self) -> tuple[int, ...]:
        """Axes of the kernel's rows."""
        return self.shape if self.is_full else self.shape[:1]

    @property
    def rates(self) -> Float[np.ndarray, " s"]:
        """Eigenvalues with the ridge."""
        return self.values + self.ridge

    @property
    def unresolved(self) -> np.ndarray:
        """Which of these cannot be told from zero."""
        return self.rates <= self.floor

    @property
    def condition(self) -> float:
        """The largest of these over the smallest."""
        lowest = float(self.rates.min())
        return float(self.rates.max()) / lowest if lowest > 0 else math.inf


def decompose(K: Kernel) -> Spectrum:
    """All modes of a kernel: made once, taken by every function here in its place.

    `tl.spectrum`, for kernels between outputs too, and without its warning of what lies
    below the resolution: the functions here say so where it matters.

    Args:
        K: Symmetric kernel of the training samples, (n, n) or (n, c, n, c): an array,
            or a `TiledGram`.

    Returns:
        The spectrum; of a matrix of side n c for a kernel between outputs.

    Raises:
        TypeError: If it is traced, as under `jax.jit`.
        ValueError: If it is not a finite symmetric kernel, or a spectrum lacks modes.
    """
    if isinstance(K, Spectrum):
        n, num = K.eigenvectors.shape
        if num < n:
            raise ValueError(
                f"The spectrum holds {num} of {n} modes, closed forms need all of "
                "them: pass `tl.spectrum(K)` without `num`, or use "
                "`tl.predict.conjugate_gradients`, which needs products alone."
            )
        return K
    check_values(K)
    shape = tuple(as_array(K).shape)
    if len(shape) not in (2, 4) or shape[: len(shape) // 2] != shape[len(shape) // 2 :]:
        raise ValueError(
            "`K` must be the kernel of the training samples, (n, n), or (n, c, n, c) "
            f"between all outputs, got shape {shape}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return spectrum(flat(K))


def flat(K: Any) -> Any:
    """A kernel as a matrix.

    Args:
        K: Kernel, (n, m) or (n, c, m, c), or nested lists.

    Returns:
        The same numbers with two axes.
    """
    K = as_array(K)
    axes = len(K.shape) // 2
    return K if axes < 2 else K.reshape(math.prod(K.shape[:axes]), -1)


def pose(K: Kernel, y: Any, f_0: Any = None, ridge: float = 0.0) -> Problem:
    """Targets in the modes of a kernel.

    Args:
        K: Kernel of the training samples, or its spectrum.
        y: Targets.
        f_0: Outputs at the start, or None.
        ridge: What is added to the diagonal.

    Returns:
        The problem.

    Raises:
        ValueError: If anything is not finite, does not fit, or the kernel has negative
            eigenvalues beyond rounding.
    """
    y = check_targets(y)
    f_0 = check_start(f_0, y.shape)
    ridge = check_amount("ridge", ridge)
    found = decompose(K)
    size = found.eigenvectors.shape[0]
    if size not in (len(y), y.size):
        raise ValueError(
            f"`y` of shape {y.shape} does not fit a kernel of {size} rows: a kernel "
            "(n, n) takes n targets, one between outputs (n, c, n, c) takes (n, c)."
        )
    is_full = size != len(y)
    start = y if f_0 is None else y - f_0
    columns = start.reshape(size, -1)
    coordinates = np.asarray(multiply_transposed(found.eigenvectors, columns))
    values, floor = _resolved(found, ridge)
    V = found.eigenvectors
    return Problem(values, V, coordinates, floor, ridge, f_0, y.shape, is_full)


def _resolved(found: Spectrum, ridge: float) -> tuple[np.ndarray, float]:
    """Eigenvalues, none negative, and what is too small to be told from zero."""
    values = np.asarray(found.eigenvalues, np.float64)
    lowest, size = float(values.min()), len(values)
    if lowest + ridge < -size * found.resolution:
        raise ValueError(
            f"`K` is no kernel: its lowest eigenvalue is {lowest:.3g}, further below "
            f"zero than rounding explains ({size * found.resolution:.3g}). Compute it "
            f"in a higher precision, or pass `ridge={-2 * lowest:.2g}`."
        )
    rounding = size * _EPSILON * float(np.abs(values).max())
    return np.maximum(values, 0.0), max(found.resolution, rounding, -lowest)


def inverse(problem: Problem) -> Float[np.ndarray, " s"]:
    """The factors of the minimum-norm solution, with a warning of what it leaves out.

    Args:
        problem: Targets in the modes of a kernel.

    Returns:
        One over each eigenvalue; zero where it cannot be told from zero.
    """
    lost, energy = problem.unresolved, problem.coordinates**2
    if lost.any():
        share = energy[lost].sum() / max(energy.sum(), np.finfo(np.float64).tiny)
        warnings.warn(
            f"{lost.sum()} of {len(lost)} eigenvalues of `K` cannot be told from zero "
            f"(at most {problem.floor:.3g}, the largest is {problem.values.max():.3g})"
            f": their modes, with {share:.2g} of the targets' squared norm, are left "
            "unlearned, as gradient descent leaves them. Pass a `ridge` above that, or "
            "a finite time, or compute `K` in a higher precision.",
            AccuracyWarning,
            stacklevel=3,
        )
    return np.where(lost, 0.0, 1.0 / np.where(lost, 1.0, problem.rates))


def solve(problem: Problem, factors: Float[np.ndarray, "... s"]) -> Solution:
    """What factors for each mode make of the targets.

    Args:
        problem: Targets in the modes of a kernel.
        factors: By which to multiply each mode's coordinate, times first.

    Returns:
        The solution.
    """
    inside = factors.reshape(-1, len(problem.values), 1) * problem.coordinates
    gained = problem.values[:, None] * inside
    made = assemble(
        _outside(problem.vectors, inside),
        _outside(problem.vectors, gained),
        times=factors.shape[:-1],
        shape=problem.shape,
        f_0=problem.f_0,
    )
    return dataclasses.replace(
        made,
        condition=problem.condition,
        num_unresolved=int(problem.unresolved.sum()),
    )


def _outside(V: Any, inside: Float[np.ndarray, "t s k"]) -> Float[np.ndarray, "t s k"]:
    """From coordinates in the modes to samples."""
    columns = np.moveaxis(inside, 0, 1)  # (s, t, k)
    made = multiply(V, columns.reshape(len(columns), -1))
    return np.moveaxis(made.reshape(columns.shape), 0, 1)
