"""The record that the tasks stage returns.

>>> import numpy as np
>>> Task(np.zeros((4, 2)), np.array([0.0, 1.0, 1.0, 0.0]), num_train=2, name="points")
Task(points, 4 samples, 2 train, balance 0.50)
"""

from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from .._checks import check_known, is_whole
from .._types import AnyArray

DEGENERATE = 0.95
"""Above this share of one class in a split, accuracy says nothing."""

Kind = Literal["binary", "regression"]
"""Labels 0 and 1, or real-valued targets."""


class Task(eqx.Module):
    """Targets for samples, the training split first, then the test split.

    Tasks made from one data set share its `x`; they differ in targets.

    Attributes:
        x: Samples.
        y: Labels, 0 or 1; for regression any finite numbers.
        num_train: How many samples, from the first on, belong to the training split.
        name: What the task is called in tables and figures.
        index: Index of the eigenfunction, or direction, the labels come from, counted
            from 0; None otherwise.
        unresolved: The eigenfunction lies in a cluster of eigenvalues that rounding
            does not separate, or its own eigenvalue is below the resolution, so another
            machine may find other labels.
        kind: `"binary"` or `"regression"`.
        source: Where the labels come from, such as `"own"` for the network's own kernel
            at its own initialization, or `"seed 7"`; empty where there is nothing to
            tell.
        symbol: The paper's letter for what `index` counts, `"phi"` or `"u"`. The paper
            counts from 1: index 0 is its phi_1.
    """

    x: Float[AnyArray, "n ..."]
    y: Float[AnyArray, " n"]
    num_train: int = eqx.field(static=True)
    name: str = eqx.field(static=True, default="task")
    index: int | None = eqx.field(static=True, default=None)
    unresolved: bool = eqx.field(static=True, default=False)
    kind: Kind = eqx.field(static=True, default="binary")
    source: str = eqx.field(static=True, default="")
    symbol: str = eqx.field(static=True, default="phi")

    def __check_init__(self):
        """Refuse targets that are not of their kind or do not fit the samples.

        Raises:
            ValueError: For labels other than 0 and 1, targets that are not finite real
                numbers, lists in the place of arrays, an unknown kind, an index that is
                none, unequal lengths, or a split that leaves one part empty.
        """
        check_known("kind of task", self.kind, get_args(Kind))
        if not (self.index is None or (is_whole(self.index) and self.index >= 0)):
            raise ValueError(
                f"{self.name}: `index` must be a whole number from 0 on, or None, got "
                f"{self.index!r}."
            )
        for what, array in (("x", self.x), ("y", self.y)):
            if not hasattr(array, "shape"):
                raise ValueError(
                    f"{self.name}: `{what}` must be an array with a row for each "
                    f"sample, got {type(array).__name__}: pass `np.asarray({what})`."
                )
        n = len(self.x)
        if self.y.shape != (n,):
            raise ValueError(
                f"{self.name}: {n} samples need labels of shape ({n},), got "
                f"{self.y.shape}."
            )
        if not (is_whole(self.num_train) and 0 < self.num_train < n):
            raise ValueError(
                f"{self.name}: both splits need samples, a whole number of them, got "
                f"num_train = {self.num_train} of {n}."
            )
        _check_targets(self.name, self.kind, np.asarray(self.y))

    @property
    def balance(self) -> float:
        """Share of samples labeled 1; for regression, of targets above 0."""
        return float(np.mean(np.asarray(self.y) > 0))

    @property
    def test_chance(self) -> float:
        """Test accuracy of the better constant answer, of a sign for regression."""
        share = float(np.mean(np.asarray(self.y[self.num_train :]) > 0))
        return max(share, 1 - share)

    @property
    def degenerate(self) -> bool:
        """In one of the splits, a constant is all there is to learn or to answer.

        One class has more than 95 % of the training split, or of the test split; for
        regression, the mean explains at least 95 % of the targets' mean square there.
        """
        splits = np.split(np.asarray(self.y, np.float64), [self.num_train])
        return any(_is_constant(self.kind, y) for y in splits)

    @property
    def flags(self) -> list[str]:
        """Why results on this task need care: `degenerate`, `unresolved`, or none."""
        named = {"degenerate": self.degenerate, "unresolved": self.unresolved}
        return [flag for flag, holds in named.items() if holds]

    def __repr__(self) -> str:
        title = self.name
        if self.index is not None:
            title += f" (the paper's {self.symbol}_{self.index + 1})"
        parts = [title]
        if self.kind != "binary":
            parts.append(self.kind)
        if self.source:
            parts.append(f"source: {self.source}")
        if _holds_numbers(self.y):  # else it stands for an array, as under `jax.jit`
            parts += [f"{len(self.x):,} samples", f"{self.num_train:,} train"]
            parts += [f"balance {self.balance:.2f}", *self.flags]
        return f"Task({', '.join(parts)})"


def _holds_numbers(array: object) -> bool:
    return isinstance(array, AnyArray) and not isinstance(array, Tracer)


def _is_constant(kind: Kind, y: Float[np.ndarray, " n"]) -> bool:
    mean = np.mean(y)
    if kind == "binary":
        return bool(max(mean, 1 - mean) > DEGENERATE)
    return bool(mean**2 >= DEGENERATE * np.mean(y**2))


def is_real(dtype: np.dtype) -> bool:
    """Whether numbers of a dtype are real: floating-point, whole, or true and false.

    Args:
        dtype: Of an array.

    Returns:
        False for complex numbers, strings and objects.
    """
    kinds = (jnp.floating, jnp.integer, jnp.bool_)
    return any(jnp.issubdtype(dtype, kind) for kind in kinds)


def _check_targets(name: str, kind: Kind, y: np.ndarray) -> None:
    if not is_real(y.dtype):
        raise ValueError(f"{name}: labels must be real numbers, got dtype {y.dtype}.")
    if kind == "regression":
        bad = ~np.isfinite(y)
        if bad.any():
            raise ValueError(
                f"{name}: targets must be finite, got {y[bad][0]} for sample "
                f"{int(bad.argmax())} ({int(bad.sum())} of {len(y)} are not)."
            )
        return
    strange = np.setdiff1d(y, [0, 1])
    if strange.size:
        raise ValueError(
            f"{name}: labels must be 0 or 1, got {strange[0]:g}; threshold real-valued "
            "targets first, or make it a regression task."
        )
