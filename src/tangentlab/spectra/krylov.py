r"""Leading eigenpairs from products alone, by a block Krylov method.

From a random block $Z$, the space spanned by $Z, KZ, K^2Z, \dots$ is grown block by
block. Each new block is orthogonalized against all before it, twice. The pairs are
those of $Q^\top K Q$ (Rayleigh-Ritz); since $KQ$ is kept beside $Q$, residuals are
evaluated, not estimated. A space that grew too large is replaced by its best vectors
and goes on from there (thick restart).

Why this one: subspace iteration, filtered or not, multiplies all wanted vectors in
every pass, several times as many columns for the spectra of kernels. A single vector,
as in ARPACK, multiplies one column at a time, which is bound by memory, and finds one
copy of a repeated eigenvalue. A block finds as many copies as it has columns; and
before anything is returned, a fresh random block looks for copies that were missed.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from .dense import LARGEST
from .space import Space

Product = Callable[[Any], Any]
"""Multiplies a symmetric matrix with (n, k), in float64."""

_FLOOR = 1e-3  # of the tolerance: what counts of the largest eigenvalue
_PROBES = 3  # blocks after which a fresh one has shown what was missed
_GROWTH = (1.05, 1.3)  # of the space between two looks at its pairs


class Effort(NamedTuple):
    """How a space grows.

    Attributes:
        block: Vectors multiplied at once.
        largest: Vectors in the space; then it is restarted.
        columns: Vectors multiplied in all; then the search ends, converged or not.
    """

    block: int
    largest: int
    columns: int


def usual_effort(n: int, num: int) -> Effort:
    """An effort that suits the spectra of kernels.

    Args:
        n: Side of the matrix.
        num: Pairs wanted.

    Returns:
        The effort, with a space that LAPACK can decompose.

    Raises:
        ValueError: If that would be too small for so many pairs.
    """
    if num > LARGEST // 2 and n > LARGEST:
        raise ValueError(
            f"Leading pairs of n = {n} by products alone are at most {LARGEST // 2} "
            f"(LAPACK's 32-bit workspace), got num={num}. Ask for fewer, or decompose "
            'the matrix on a GPU with `method="dense"`.'
        )
    block = min(n, max(8, min(128, num // 8)))
    largest = min(n, LARGEST, 6 * num + 10 * block)
    return Effort(block, largest, 40 * num + 100 * block)


class Ritz(NamedTuple):
    r"""Pairs and how good they are.

    Attributes:
        values: Eigenvalues, descending.
        vectors: Eigenvectors as columns, where the products are computed.
        residuals: $\|K v_j - \mu_j v_j\|$.
        converged: Where a residual is within the tolerance.
        excess: The largest residual, in units of what it has to reach.
        num_columns: How many vectors were multiplied.
        following: The eigenvalue after the last, as far as the space tells; None where
            it has no more.
    """

    values: Float[np.ndarray, " k"]
    vectors: Any
    residuals: Float[np.ndarray, " k"]
    converged: Bool[np.ndarray, " k"]
    excess: float
    num_columns: int
    following: float | None


def bound(lam: Float[np.ndarray, " k"], tolerance: float) -> Float[np.ndarray, " k"]:
    r"""What residuals have to reach.

    Args:
        lam: Eigenvalues.
        tolerance: A share of the eigenvalue.

    Returns:
        $\max(|\mu_j|, 10^{-3} \max_i |\mu_i|)$ times the tolerance.
    """
    size = np.abs(lam)
    return tolerance * np.maximum(size, _FLOOR * size.max())


def leading(
    product: Product,
    n: int,
    num: int,
    *,
    tolerance: float,
    effort: Effort,
    xp: ModuleType = np,
) -> Ritz:
    """The leading pairs of a symmetric matrix.

    Args:
        product: Multiplies it.
        n: Its side.
        num: How many pairs, from 1 to n.
        tolerance: What residuals have to reach, see `bound`.
        effort: How the space grows.
        xp: numpy, or jax.numpy where vectors are on a device.

    Returns:
        The pairs, converged or not.
    """
    space = Space(n, xp)

    def grow(block: Any, least: int) -> Ritz:
        """Pairs of the space grown from this block, to at least some size."""
        looks = _Looks(least)
        while True:
            made = product(block)
            space.append(block, made)
            over = space.num_columns >= effort.columns or space.size == n
            if space.size >= looks.next or over:
                found = _evaluate(space, num, tolerance)
                if over or found.converged.all():
                    return found
                looks.add(space.size, found.excess)
            block = space.outside(made)
            if space.size + block.shape[1] > effort.largest:
                space.keep((num + effort.largest) // 2)
                looks = _Looks(effort.largest - effort.block)

    found = grow(space.fresh(effort.block), 2 * num + effort.block)
    while found.converged.all() and space.size < n:
        if space.size + _PROBES * effort.block > effort.largest:
            space.keep(num + effort.block)
        known, least = found.values, space.size + _PROBES * effort.block
        found = grow(space.fresh(effort.block), least)
        if (np.abs(found.values - known) <= bound(known, tolerance)).all():
            break
    return found


class _Looks:
    """When to look at the pairs again: where residuals are expected to be small."""

    def __init__(self, first: int):
        self.next = first
        self._last: tuple[int, float] | None = None

    def add(self, size: int, excess: float) -> None:
        low, high = (int(size * growth) + 1 for growth in _GROWTH)
        self.next = (low + high) // 2
        if self._last is not None and excess < self._last[1]:
            fall = np.log(self._last[1] / excess) / (size - self._last[0])
            self.next = int(np.clip(size + np.log(excess) / fall, low, high))
        self._last = size, excess


def _evaluate(space: Space, num: int, tolerance: float) -> Ritz:
    lam, Y = space.pairs(min(num + 1, space.size))
    following = float(lam[num]) if len(lam) > num else None
    lam, Y = lam[:num], Y[:, :num]
    V, KV = space.combine(Y)
    R = KV - V * lam[None]
    residuals = np.sqrt(np.asarray((R * R).sum(axis=0)))
    wanted = bound(lam, tolerance)
    excess = float((residuals / np.maximum(wanted, np.finfo(float).tiny)).max())
    within = residuals <= wanted
    return Ritz(lam, V, residuals, within, excess, space.num_columns, following)
