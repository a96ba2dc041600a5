"""Putting the blocks of a Gram matrix together, and refusing one with NaN in it."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._progress import Advance
from .._types import AnyArray
from .engine import Block, Job, panel_pairs, run


def collect(job: Job, advance: Advance) -> AnyArray:
    """Compute a Gram matrix and keep it in memory.

    Args:
        job: The computation.
        advance: Told the number of pairs of examples done, times passes.

    Returns:
        The Gram matrix, on the device if one block was all, else in host memory.
    """
    pairs = panel_pairs(job.problem, job.plan.panel)
    blocks = run(job, pairs, advance)
    if len(pairs) == 1:
        return next(blocks).values
    n, m, c = job.problem.n, job.problem.m, job.problem.num_outputs
    shape = (n, c, m, c) if job.problem.full else (n, m)
    K = np.empty(shape, np.float64 if job.problem.itemsize == 8 else np.float32)
    for rows, columns, values in blocks:
        values = np.asarray(values)
        if job.problem.full:
            K[rows, :, columns] = values
        else:
            K[rows, columns] = values
        if job.problem.symmetric and rows != columns:
            mirrored = values.transpose(2, 3, 0, 1) if job.problem.full else values.T
            if job.problem.full:
                K[columns, :, rows] = mirrored
            else:
                K[columns, rows] = mirrored
    return K


@jax.jit
def _all_finite(K: Array) -> Array:
    return jnp.isfinite(K).all()


def check_finite(K: AnyArray, symmetric: bool = False) -> Array:
    """Refuse a result that is not finite, and say which example is to blame.

    Args:
        K: A Gram matrix or its diagonal.
        symmetric: Whether rows and columns are the same examples.

    Returns:
        The same, as a JAX array.

    Raises:
        ValueError: If an entry is NaN or infinite.
    """
    if isinstance(K, np.ndarray):
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(K.sum()):  # then its terms are too
                return jax.device_put(K)
    K = jnp.asarray(K)
    if bool(_all_finite(K)):
        return K
    bad = ~np.isfinite(np.asarray(K))
    raise ValueError(_blame(bad, other="x_1" if symmetric else "x_2"))


def check_block_finite(block: Block, symmetric: bool) -> None:
    """Refuse a block that is not finite, and say which example is to blame.

    Args:
        block: A block of a Gram matrix, in host memory.
        symmetric: Whether rows and columns of the whole are the same examples.

    Raises:
        ValueError: If an entry is NaN or infinite.
    """
    bad = ~np.isfinite(block.values)
    if bad.any():
        first = block.rows.start, block.columns.start
        raise ValueError(_blame(bad, first, "x_1" if symmetric else "x_2"))


def _blame(bad: np.ndarray, first: tuple[int, int] = (0, 0), other: str = "x_2") -> str:
    """Say where entries are bad, of a block that starts at `first`."""
    if bad.ndim == 4:
        bad = np.any(bad, axis=(1, 3), keepdims=True)[:, 0, :, 0]
    rows = np.flatnonzero(bad if bad.ndim == 1 else np.all(bad, axis=-1))
    columns = np.flatnonzero(bad if bad.ndim == 1 else np.all(bad, axis=0))
    if len(rows):
        where = _examples("x_1", rows + first[0])
    elif len(columns):
        where = _examples(other, columns + first[1])
    else:
        i, j = np.argwhere(bad)[0] + first
        return (
            f"The kernel overflows for example {i} of `x_1` with example {j} of "
            f"`{other}`, though not with all others: divide the outputs or the samples "
            'by a constant, or pass precision="float64".'
        )
    return (
        f"The gradient is NaN or infinite for {where}: look for it in the parameters, "
        "in that example, and for a derivative that does not exist there."
    )


def _examples(name: str, affected: np.ndarray) -> str:
    return f"example {affected[0]} of `{name}` ({len(affected)} in all are affected)"
