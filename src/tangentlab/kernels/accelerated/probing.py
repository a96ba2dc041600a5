"""How far a Gram matrix is from one with exact products, on a few examples.

The network runs in the same precision whatever the products do, so the inputs and
deltas of one chunk give both: the block of the matrix that was computed, and the same
block formed and multiplied in full precision.
"""

import logging
import math
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array

from ..features import Feature, Source, Values, form
from ..planning import Problem
from ..reading.backward import Factors
from ..traced import sum_of_products

logger = logging.getLogger("tangentlab")

_MOST = 128
_NUMBERS = 1 << 29  # that may be formed for them
_LEAST = 0.1  # of the mean energy of random targets
_ALLOWED = {"float64": 1e-3, "float32": 1e-3, "high": 1e-2, "fast": 2e-2}


class Error(NamedTuple):
    """How far a block is from an exact one.

    Attributes:
        relative: Frobenius norm of the difference over that of the exact block.
        largest: Largest difference, over the roots of both diagonal entries, or where
            these are not in the block over its largest entry.
        examples: Side of the block.
    """

    relative: float
    largest: float
    examples: int


def probes(chunk: int, numbers: int) -> np.ndarray:
    """Which examples of the first chunk are looked at.

    Args:
        chunk: Examples of the chunk.
        numbers: Numbers of all features of an example.

    Returns:
        Their positions, spread evenly.
    """
    count = max(1, min(chunk, _MOST, _NUMBERS // numbers))
    return np.linspace(0, chunk - 1, count).astype(np.int32)


@jax.jit
def some_of(made: Factors, where: Array) -> Factors:
    """Factors of some examples.

    Args:
        made: Factors of a chunk.
        where: The examples.

    Returns:
        Their factors.
    """
    return jax.tree.map(lambda a: a[where], made)


@lru_cache(maxsize=32)
def compiled_block(source: Source, features: tuple[Feature, ...], problem: Problem):
    """The function that computes a block of the Gram matrix in full precision.

    Args:
        source: The network.
        features: All features.
        problem: The problem; its size does not matter.

    Returns:
        A function of the parameters' values and of the factors along rows and columns.
    """

    def block(values: Values, left: Factors, right: Factors) -> Array:
        sides = [
            [form(source, f, values, made) for f in features] for made in (left, right)
        ]
        return sum_of_products(features, sides[0], sides[1], problem)

    return jax.jit(block)


def error(found: Any, exact: Any, *, symmetric: bool) -> Error:
    """Compare a block with an exact one.

    Args:
        found: The block of the result, `(n, m)`, or `(n, c, m, c)` in full.
        exact: The same block in full precision.
        symmetric: Whether rows and columns are the same examples.

    Returns:
        How far it is off.
    """
    found, exact = (np.asarray(a, np.float64) for a in (found, exact))
    with np.errstate(invalid="ignore"):  # infinite minus infinite
        off = found - exact
    norm = max(float(np.linalg.norm(exact)), np.finfo(np.float64).tiny)
    size = float(np.abs(exact).max())
    scale = np.full(exact.shape, size)
    if symmetric:
        root = np.sqrt(np.abs(exact.reshape(math.isqrt(exact.size), -1).diagonal()))
        scale = np.maximum(np.outer(root, root), 1e-6 * size).reshape(exact.shape)
    largest = float(np.max(np.abs(off) / np.maximum(scale, np.finfo(np.float64).tiny)))
    return Error(float(np.linalg.norm(off)) / norm, largest, len(exact))


def error_of_energies(found: Any, targets: Any, exact: Any) -> Error:
    """Compare energies of targets with those of an exact block.

    Args:
        found: Energies on the examples of the block, one for each target.
        targets: Values of the targets there, as columns.
        exact: The block of the Gram matrix in full precision.

    Returns:
        How far they are off, relative to the energy of each target; root mean square,
        and the largest.
    """
    with np.errstate(invalid="ignore"):
        wanted = (targets * (exact @ targets)).sum(axis=0)
    # A target may have less energy than rounding leaves of any target's.
    least = _LEAST * exact.diagonal().mean() * (targets**2).sum(axis=0)
    scale = np.maximum(np.maximum(np.abs(wanted), least), np.finfo(np.float64).tiny)
    off = np.abs(found - wanted) / scale
    return Error(float(np.sqrt(np.mean(off**2))), float(off.max()), len(exact))


def judge(
    measured: Error, precision: str, of: str = "Gram matrix differs from one"
) -> None:
    """Log the error; refuse one that no rounding explains.

    An error that is NaN is none: examples without a finite gradient are named when the
    whole matrix is looked at.

    Args:
        measured: The error.
        precision: Of the products.
        of: What differs from what.

    Raises:
        RuntimeError: If it is far beyond what the precision allows.
    """
    logger.info(
        "precision %r: relative error %.1e, largest %.1e, on %d examples",
        precision,
        measured.relative,
        measured.largest,
        measured.examples,
    )
    if measured.relative > _ALLOWED[precision]:
        raise RuntimeError(
            f"The {of} with exact products by "
            f"{measured.relative:.1e} on {measured.examples} examples, more than the "
            f"precision {precision!r} explains. This is a bug in tangentlab or a "
            "faulty device: please report the network."
        )
