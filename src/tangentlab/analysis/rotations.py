r"""Whether a kernel turned along a single axis: the mode that was learned.

A network that learns $\mathrm{sign}(\phi_j)$ raises the kernel along $\phi_j$ above its
neighbors. What grows along each mode is the ratio of Rayleigh quotients after and
before, $a_k(T) / \mu_k$.

>>> import numpy as np
>>> before = 1.0 / np.arange(1.0, 101.0)
>>> after = 2 * before
>>> after[50] *= 8
>>> turned = rotation(after, before, 50)
>>> turned.score, turned.rank, turned.num_neighbors
(8.0, 1, 22)
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float, PyTree

from .._types import AnyArray, Apply, Inputs, Params
from ..kernels.request import Outputs, Precision
from ..spectra import Spectrum
from .aligning import alignment_forms

SPREAD = 1.25
"""Neighbors of mode j are those from j / 1.25 to 1.25 j."""


class Rotation(eqx.Module):
    r"""How one mode of a kernel grew, compared with the others.

    Attributes:
        gains: $g_k = a_k(T) / \mu_k$ of every mode.
        score: $s_j = g_j / \mathrm{median}_{k \ne j}\, g_k$ over all modes.
        neighbor_score: The same over the neighbors of $j$ alone.
        rank: Place of $g_j$ among its neighbors, 1 for the largest.
        num_neighbors: How many there are, without $j$.
        exceeded_by: Share of the neighbors whose gain is at least $g_j$: in the top 5 %
            means at most 0.05. NaN without neighbors.
    """

    gains: Float[np.ndarray, " k"]
    score: float
    neighbor_score: float
    rank: int
    num_neighbors: int
    exceeded_by: float


def rotation(
    after: Float[AnyArray, " k"],
    before: Float[AnyArray, " k"],
    index: int,
    *,
    spread: float = SPREAD,
) -> Rotation:
    r"""Single-axis rotation score of a mode, and its rank among its neighbors.

    Args:
        after: Rayleigh quotients $a_k(T)$ of the initial modes with the kernel after
            training, `alignment_forms(...).rayleigh`.
        before: The same with the kernel before: on all samples the eigenvalues $\mu_k$;
            on a part of them, such as the training split, quotients on that part.
        index: The mode $j$ that was learned, from 0.
        spread: Neighbors are $k \ne j$ from $j$ / `spread` to `spread` $j$.

    Returns:
        Gains, score and rank.

    Raises:
        ValueError: If the arrays do not match, `index` is none of their modes, a
            quotient before is not above zero, or `spread` not above 1.
    """
    after, before = (np.asarray(a, np.float64) for a in (after, before))
    num = len(before) if before.ndim == 1 else 0
    if after.shape != before.shape or num < 2:
        raise ValueError(
            "`after` and `before` must hold one quotient for each of the same two or "
            f"more modes, got shapes {after.shape} and {before.shape}."
        )
    if not 0 <= index < num:
        raise ValueError(f"`index` must lie in 0..{num - 1}, got {index}.")
    if not (before > 0).all():
        raise ValueError(
            f"Mode {int((~(before > 0)).argmax())} has no energy before training, so "
            "nothing can be said of its gain: leave out modes below the resolution of "
            "the spectrum."
        )
    if not 1 < spread < np.inf:
        raise ValueError(f"`spread` must be above 1, such as 1.25, got {spread}.")
    gains, modes = after / before, np.arange(num)
    others = modes != index
    near = others & (modes >= index / spread) & (modes <= index * spread)
    above = gains[near] >= gains[index]
    return Rotation(
        gains=gains,
        score=float(gains[index] / np.median(gains[others])),
        neighbor_score=_over_median(gains[index], gains[near]),
        rank=1 + int((gains[near] > gains[index]).sum()),
        num_neighbors=int(near.sum()),
        exceeded_by=float(above.mean()) if near.any() else float("nan"),
    )


def rotation_of(
    apply: Apply,
    params: Params,
    x: Inputs,
    spectrum: Spectrum,
    index: int,
    *,
    spread: float = SPREAD,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> Rotation:
    r"""The same for a trained network, without a Gram matrix.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: After training.
        x: The samples that the spectrum was computed on.
        spectrum: Of the kernel before training.
        index: The mode that was learned, from 0.
        spread: Neighbors are those from `index / spread` to `spread * index`.
        outputs: With several logits, which kernel; that of the spectrum.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.alignment`.
        memory: Bytes that may be used.

    Returns:
        Gains, score and rank.
    """
    forms = alignment_forms(
        apply,
        params,
        x,
        spectrum.eigenvectors,
        outputs=outputs,
        trainable=trainable,
        scale=scale,
        precision=precision,
        memory=memory,
    )
    return rotation(forms.rayleigh, spectrum.eigenvalues, index, spread=spread)


def _over_median(value: float, others: np.ndarray) -> float:
    return float(value / np.median(others)) if len(others) else float("nan")
