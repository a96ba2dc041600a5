"""Putting the blocks of a Gram matrix together, and refusing one with NaN in it."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._progress import Advance
from .._types import AnyArray
from .engine import Job, panel_pairs, run


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


def check_finite(K: AnyArray) -> Array:
    """Refuse a result that is not finite, and say which example is to blame.

    Args:
        K: A Gram matrix or its diagonal.

    Returns:
        The same, as a JAX array.

    Raises:
        ValueError: If an entry is NaN or infinite.
    """
    K = jnp.asarray(K)
    if bool(_all_finite(K)):
        return K
    bad = ~np.isfinite(np.asarray(K))
    if bad.ndim == 4:
        bad = bad.any(axis=(1, 3))
    rows = np.flatnonzero(bad if bad.ndim == 1 else np.all(bad, axis=-1))
    columns = np.flatnonzero(bad if bad.ndim == 1 else np.all(bad, axis=0))
    if len(rows):
        where = f"example {rows[0]} of `x_1` ({len(rows)} examples are affected)"
    elif len(columns):
        where = f"example {columns[0]} of `x_2` ({len(columns)} examples are affected)"
    else:
        i, j = np.argwhere(bad)[0]
        where = f"example {i} of `x_1` with example {j} of `x_2`"
    raise ValueError(
        f"The gradient is NaN or infinite for {where}: look for it in the parameters, "
        "in that example, and for a derivative that does not exist there."
    )
