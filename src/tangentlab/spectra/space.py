r"""An orthonormal basis that grows, with what the matrix makes of it."""

from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float

from .dense import leading_of
from .multiplying import matmul_on_device

_NOISE = 1e-13  # of the largest eigenvalue: what is left of a vector already in here
_SHORT = 1e-2  # of a unit vector: what is left of one that nearly is


class Space:
    r"""A basis $Q$ in float64, with $KQ$ and $Q^\top K Q$.

    Vectors lie in a few blocks, each at least as wide as the next, so that products
    with all of them are a few large ones.
    """

    def __init__(self, n: int, xp: ModuleType):
        """Start empty.

        Args:
            n: Length of the vectors.
            xp: numpy, or jax.numpy for vectors on a device.
        """
        self.n = n
        self.num_columns = 0
        self._xp = xp
        self._matmul = np.matmul if xp is np else matmul_on_device
        self._random = np.random.default_rng(0)
        self._Q: list[Any] = []
        self._KQ: list[Any] = []
        self._T = np.zeros((0, 0))

    @property
    def size(self) -> int:
        """Number of vectors."""
        return len(self._T)

    def append(self, block: Any, product: Any) -> None:
        """Add vectors.

        Args:
            block: Orthonormal vectors, orthogonal to those in here.
            product: What the matrix makes of them.
        """
        self.num_columns += block.shape[1]
        self._Q.append(block)
        self._KQ.append(product)
        column = np.concatenate(
            [np.asarray(self._matmul(q.T, product)) for q in self._Q]
        )
        old, T = self.size, np.zeros((len(column), len(column)))
        T[:old, :old] = self._T
        T[:, old:], T[old:, :] = column, column.T
        T[old:, old:] = (column[old:] + column[old:].T) / 2
        self._T = T
        while len(self._Q) > 1 and self._Q[-1].shape[1] >= self._Q[-2].shape[1]:
            for blocks in (self._Q, self._KQ):
                blocks[-2:] = [self._xp.concatenate(blocks[-2:], axis=1)]

    def fresh(self, width: int) -> Any:
        """Random directions outside.

        Args:
            width: How many, at most; there are no more than `n - size`.

        Returns:
            Orthonormal vectors, orthogonal to those in here.
        """
        return self.outside(self._draw(width))

    def outside(self, block: Any) -> Any:
        """What vectors add to the basis; random directions in the place of nothing.

        Args:
            block: Vectors.

        Returns:
            Orthonormal vectors, orthogonal to those in here, at most as many.
        """
        block = block[:, : self.n - self.size]
        least = _NOISE * np.abs(self._T).max(initial=0.0)
        for _ in range(4):  # two are enough unless directions are drawn
            block, R = self._xp.linalg.qr(self._remainder(block))
            lost = np.abs(np.diag(np.asarray(R))) <= least
            if least == _SHORT and not lost.any():
                break
            if lost.any():
                drawn = self._draw(block.shape[1]) / np.sqrt(self.n)
                block = self._xp.where(self._xp.asarray(lost)[None], drawn, block)
            least = _SHORT
        return block

    def pairs(self, num: int) -> tuple[np.ndarray, np.ndarray]:
        r"""The leading pairs of $Q^\top K Q$.

        Args:
            num: How many.

        Returns:
            Eigenvalues, descending, and the vectors' coefficients as columns.
        """
        m = self.size
        if self._xp is np:
            return leading_of(self._T, num)
        found = self._xp.linalg.eigh(self._xp.asarray(self._T))
        lam, Y = (np.asarray(part)[..., m - num :] for part in found)
        if not (np.isfinite(lam).all() and np.isfinite(Y).all()):
            return leading_of(self._T, num)  # the device's solver failed: LAPACK's turn
        return lam[::-1], Y[:, ::-1]

    def combine(self, Y: Float[np.ndarray, "m k"]) -> tuple[Any, Any]:
        """Vectors with these coefficients.

        Args:
            Y: Coefficients, as columns.

        Returns:
            The vectors, and what the matrix makes of them.
        """
        ends = np.cumsum([q.shape[1] for q in self._Q])[:-1]
        parts = [self._xp.asarray(part) for part in np.split(Y, ends)]
        return self._sum(self._Q, parts), self._sum(self._KQ, parts)

    def keep(self, num: int) -> None:
        """Keep the leading vectors alone.

        Args:
            num: How many.
        """
        lam, Y = self.pairs(num)
        V, KV = self.combine(Y)
        self._Q, self._KQ, self._T = [V], [KV], np.diag(lam)

    def _remainder(self, block: Any) -> Any:
        for q in self._Q:
            block = block - self._matmul(q, self._matmul(q.T, block))
        return block

    def _sum(self, blocks: list[Any], parts: list[Any]) -> Any:
        total = self._matmul(blocks[0], parts[0])
        for block, part in zip(blocks[1:], parts[1:], strict=True):
            total = total + self._matmul(block, part)
        return total

    def _draw(self, width: int) -> Any:
        return self._xp.asarray(self._random.standard_normal((self.n, width)))
