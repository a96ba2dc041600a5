"""The record that every way of fitting returns."""

import equinox as eqx
import numpy as np
from jaxtyping import Float


class Solution(eqx.Module):
    r"""A function in the span of the kernel at the training samples.

    $$f(x) = f_0(x) + \Theta(x, X)\, \beta, \qquad \theta = \theta_0 + J^\top \beta$$

    Leading axes `...` are those of the times or step counts asked for. `evaluate` gives
    the function at other samples, `weights` the parameters.

    Attributes:
        coefficients: $\beta$, shaped like the targets.
        outputs: $f$ at the training samples.
        squared_norm: $\beta^\top K \beta = \|\theta - \theta_0\|^2$; one number for
            each column of the targets where these share a kernel, one for all outputs
            with a kernel between outputs.
        condition: Largest over smallest eigenvalue of $K + \text{ridge}\, I$; infinite
            for a singular one, None where the eigenvalues are not known.
        num_unresolved: How many of these eigenvalues cannot be told from zero; negative
            ones are among them and count as zero.
        num_axes: How many axes the targets have: 1, or 2 for several outputs.
        is_full: Whether the kernel is one between all pairs of outputs.
        has_start: Whether $f_0$ was given; it is then wanted at other samples too.
        residuals: Of an iterative solver: $\|y - f_0 - (K + \text{ridge}\, I) \beta\|$
            over $\|y - f_0\|$ for each column; of `hard_margin` the largest violation.
        num_iterations: Of an iterative solver.
    """

    coefficients: Float[np.ndarray, "..."]
    outputs: Float[np.ndarray, "..."]
    squared_norm: Float[np.ndarray, "..."]
    condition: float | None = None
    num_unresolved: int = 0
    num_axes: int = eqx.field(static=True, default=1)
    is_full: bool = eqx.field(static=True, default=False)
    has_start: bool = eqx.field(static=True, default=False)
    residuals: Float[np.ndarray, "..."] | None = None
    num_iterations: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the targets."""
        return self.coefficients.shape[-self.num_axes :]

    @property
    def side(self) -> tuple[int, ...]:
        """Axes of the kernel's rows."""
        return self.shape if self.is_full else self.shape[:1]


class Posterior(eqx.Module):
    """Mean and covariance of a Gaussian process at test samples.

    Attributes:
        mean: One number for each sample, or sample and output; times first.
        covariance: Between samples, (m, m), the same for each output where these share
            a kernel; (m, c, m, c) with a kernel between outputs; times first. Rounding
            may leave a variance that should be zero slightly negative.
        condition: Of the kernel that was inverted, with what was added to its diagonal,
            as in `Solution`.
        num_unresolved: Likewise.
    """

    mean: Float[np.ndarray, "..."]
    covariance: Float[np.ndarray, "..."]
    condition: float | None = None
    num_unresolved: int = 0


def assemble(
    beta: Float[np.ndarray, "t s k"],
    change: Float[np.ndarray, "t s k"],
    *,
    times: tuple[int, ...],
    shape: tuple[int, ...],
    f_0: Float[np.ndarray, "..."] | None,
) -> Solution:
    r"""A solution of its coefficients and what the kernel makes of them.

    Args:
        beta: Coefficients for each time, a row for each row of the kernel.
        change: The kernel times these.
        times: Axes of the times.
        shape: Of the targets.
        f_0: Outputs before training, or None.

    Returns:
        The solution.
    """
    is_full = beta.shape[1] != shape[0]
    squared = (beta * change).sum(axis=1)
    ends = shape[1:] if not is_full else ()
    outputs = change.reshape(*times, *shape)
    return Solution(
        coefficients=beta.reshape(*times, *shape),
        outputs=outputs if f_0 is None else f_0 + outputs,
        squared_norm=squared.reshape((*times, *ends)),
        num_axes=len(shape),
        is_full=is_full,
        has_start=f_0 is not None,
    )
