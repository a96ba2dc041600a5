"""What a kernel is multiplied by: columns, and the vectors they become."""

from collections.abc import Iterator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..._types import AnyArray
from ..packing import Problem
from ..preparing import result_dtype


def columns_of(v: AnyArray, problem: Problem) -> AnyArray:
    """Check what a kernel is multiplied by.

    Args:
        v: What was given: a vector, or vectors as columns; a list becomes an array.
        problem: The size of the kernel.

    Returns:
        The columns, `(m, k)`, or `(m, c, k)` in full, in the dtype of the result; in
        host memory where values are known.

    Raises:
        ValueError: If it does not fit the samples, or is not real.
    """
    m, c = problem.m, problem.num_outputs
    v = v if isinstance(v, Tracer) else np.asarray(v)
    wanted = (m, c) if problem.full else (m,)
    if jnp.issubdtype(v.dtype, jnp.complexfloating):
        raise ValueError(f"`v` must be real, got {v.dtype}: multiply its two parts.")
    num = len(wanted)
    if v.shape[:num] == wanted and v.ndim in (num, num + 1) and v.size:
        v = v.astype(result_dtype(problem))
        return v if v.ndim > num else v[..., None]
    samples = f"m = {m} samples of `{'x_1' if problem.symmetric else 'x_2'}`"
    if problem.full:
        raise ValueError(
            f"`v` must have shape (m, c) or (m, c, k) for the {samples} and c = {c} "
            f"logits, got {v.shape}: give a number for each sample and logit, or leave "
            'out outputs="full".'
        )
    hint = "rows belong to samples, and each column is multiplied on its own"
    if v.ndim == 3:
        hint = 'pass outputs="full" to multiply by a number for each sample and logit'
    raise ValueError(
        f"`v` must have shape (m,) or (m, k) for the {samples}, got {v.shape}: {hint}."
    )


class Lanes(NamedTuple):
    """Vectors that a route multiplies.

    Each column is one of them; or, where a route keeps outputs apart and their mean is
    wanted, one for each output: those of the first output, then those of the second.

    Attributes:
        v: The columns, `(m, k)` or `(m, c, k)`.
        spread: Number of outputs a column is spread over; 0 if it is not.
    """

    v: AnyArray
    spread: int

    @property
    def num(self) -> int:
        """Number of vectors."""
        return self.v.shape[-1] * max(self.spread, 1)

    def weights(
        self, block: slice, rows: slice | np.ndarray, counted: np.ndarray
    ) -> AnyArray:
        """What examples are multiplied by.

        Args:
            block: Which vectors.
            rows: Which examples.
            counted: Which of these count; the weights of others are zero.

        Returns:
            The weights, examples first and vectors last.
        """
        counts = counted.astype(self.v.dtype)
        if not self.spread:
            weights = self.v[rows][..., block]
            return weights * counts.reshape(-1, *[1] * (weights.ndim - 1))
        output, column = self._places(block)
        basis = np.eye(self.spread, dtype=self.v.dtype)[:, output]
        return self.v[rows][:, None, column] * (counts[:, None, None] * basis[None])

    def keep(self, block: slice, outputs: AnyArray) -> AnyArray:
        """What counts of the outputs: all, or those that a vector belongs to.

        Args:
            block: Which vectors.
            outputs: Outputs, examples first and vectors last.

        Returns:
            The part that counts, likewise.
        """
        if not self.spread:
            return outputs
        output, _ = self._places(block)
        return outputs[:, output, np.arange(len(output))]

    def collect(self, kept: AnyArray) -> AnyArray:
        """Make columns of what was kept of all vectors.

        Args:
            kept: What was kept, examples first and vectors last.

        Returns:
            The columns of the product.
        """
        if not self.spread:
            return kept
        return kept.reshape(len(kept), self.spread, -1).mean(axis=1)

    def _places(self, block: slice) -> tuple[np.ndarray, np.ndarray]:
        """Output and column of each vector."""
        return np.divmod(np.arange(block.start, block.stop), self.v.shape[-1])


class Window(NamedTuple):
    """A run of items.

    Attributes:
        items: Which ones.
        done: How many of the first were in the window before.
    """

    items: slice
    done: int

    @property
    def fresh(self) -> int:
        """How many were not."""
        return self.items.stop - self.items.start - self.done


def windows(n: int, size: int) -> Iterator[Window]:
    """Cover `range(n)` by windows of one size; the last is moved back to be full.

    Args:
        n: Number of items.
        size: Items in a window, if there are so many.

    Yields:
        The windows, in order.
    """
    size = min(size, n)
    for start in range(0, n, size):
        at = min(start, n - size)
        yield Window(slice(at, at + size), start - at)
