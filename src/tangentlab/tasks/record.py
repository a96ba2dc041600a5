"""The record that the tasks stage returns."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from .._types import AnyArray

DEGENERATE = 0.95
"""Above this share of one class, accuracy says nothing."""


class Task(eqx.Module):
    """Binary classification of samples, the training split first, then the test split.

    Tasks made from one data set share its `x`; they differ in labels.

    Attributes:
        x: Samples.
        y: Labels, 0 or 1.
        num_train: How many samples, from the first on, belong to the training split.
        name: What the task is called in tables and figures.
        index: Index of the eigenfunction the labels come from, from 0; None otherwise.
        unresolved: The eigenfunction lies in a cluster of eigenvalues that rounding
            does not separate, so another machine may find other labels.
    """

    x: Float[AnyArray, "n ..."]
    y: Float[AnyArray, " n"]
    num_train: int = eqx.field(static=True)
    name: str = eqx.field(static=True, default="task")
    index: int | None = eqx.field(static=True, default=None)
    unresolved: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        """Refuse labels that are not binary or do not fit the samples.

        Raises:
            ValueError: For labels other than 0 and 1, unequal lengths, or a split that
                leaves one part empty.
        """
        n = len(self.x)
        if self.y.shape != (n,):
            raise ValueError(
                f"{self.name}: {n} samples need labels of shape ({n},), got "
                f"{self.y.shape}."
            )
        if not 0 < self.num_train < n:
            raise ValueError(
                f"{self.name}: both splits need samples, got num_train = "
                f"{self.num_train} of {n}."
            )
        strange = np.setdiff1d(np.asarray(self.y), [0, 1])
        if strange.size:
            raise ValueError(
                f"{self.name}: labels must be 0 or 1, got {strange[0]:g}; threshold "
                "real-valued targets first."
            )

    @property
    def balance(self) -> float:
        """Share of samples labeled 1."""
        return float(np.mean(np.asarray(self.y, np.float64)))

    @property
    def test_chance(self) -> float:
        """Test accuracy of the better constant answer."""
        share = float(np.mean(np.asarray(self.y[self.num_train :], np.float64)))
        return max(share, 1 - share)

    @property
    def degenerate(self) -> bool:
        """One class has more than 95 % of the samples."""
        return max(self.balance, 1 - self.balance) > DEGENERATE
