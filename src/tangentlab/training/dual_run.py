"""All epochs of some tasks in function space, and their record."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._progress import Advance
from .._types import PRNGKey
from .batches import epoch_batches
from .checkpoint import Checkpoint
from .course import score
from .curves import Curves, extend, no_curves
from .distances import cosine_distance
from .dual_checks import Start
from .dual_steps import DualProblem, DualState, run_steps
from .gram_rows import GramRows
from .losses import LOSSES
from .recipe import Recipe
from .record import History


class DualRun(NamedTuple):
    """Everything that decides how some tasks go.

    Attributes:
        rows: The Gram matrix.
        start: The network where training starts.
        y: Targets.
        diagonal: Of the Gram matrix.
        recipe: How to train.
        key: Decides the order of samples.
    """

    rows: GramRows
    start: Start
    y: Float[np.ndarray, "t n"]
    diagonal: Float[np.ndarray, " n"]
    recipe: Recipe
    key: PRNGKey


def run_dual(run: DualRun, advance: Advance, checkpoint: Checkpoint | None) -> History:
    """Train to the end.

    Args:
        run: What to do.
        advance: Told how many steps are done.
        checkpoint: Where to keep states, and to go on from.

    Returns:
        The history of these tasks.
    """
    rows, recipe, t = run.rows, run.recipe, len(run.y)
    m, dtype = rows.num_train, rows.dtype
    y = jnp.asarray(run.y.T, dtype)
    problem = DualProblem(run.start.f_0, run.start.q, y)
    state = DualState(*(jnp.zeros(s, dtype) for s in ((m, t), (m, t), (t,), (t,))))
    curves = no_curves((t,), np.dtype(dtype))
    if checkpoint is not None:
        state, curves = checkpoint.restore((state, curves))
    steps = recipe.steps_per_epoch(m)
    rates = run.recipe.rates(m).astype(dtype).reshape(recipe.epochs, steps)
    advance(curves.epochs * steps * t)
    for epoch in range(curves.epochs, recipe.epochs):
        seen, first = [], 0
        for part in rows.parts(epoch_batches(run.key, epoch, m, recipe)):
            after = first + len(part.batches)
            some = rates[epoch, first:after]
            state, totals = run_steps(state, problem, part, some, recipe)
            seen, first = [*seen, np.asarray(totals)], after
        tested = _outputs(run, state, slice(m, rows.n))[0]
        scores = np.asarray(score(LOSSES[recipe.loss], tested.T, y[m:].T))
        curves = extend(curves, np.concatenate(seen), scores, recipe)
        if checkpoint is not None:
            checkpoint.save((state, curves), epoch + 1, last=recipe.epochs)
        advance(steps * t)
    return _history(run, state, curves)


def _outputs(
    run: DualRun, state: DualState, rows: slice
) -> tuple[Float[Array, "k t"], Float[Array, "k t"]]:
    r"""Outputs on some samples, and the part of them that is $K \beta$."""
    image = run.rows.product(rows, state.beta)
    f_0, q = run.start.f_0[rows], run.start.q[rows]
    return f_0[:, None] + q[:, None] * state.c[None] + image, image


def _history(run: DualRun, state: DualState, curves: Curves) -> History:
    m, start = run.rows.num_train, run.start
    outputs, image = _outputs(run, state, slice(0, run.rows.n))
    squared = jnp.sum(state.beta * image[:m], axis=0)
    # beta^T K beta of a matrix with rounding errors may be a little below zero.
    sizes = jnp.sqrt(jnp.asarray(run.diagonal[:m], squared.dtype))
    bound = (
        jnp.finfo(squared.dtype).eps
        * jnp.sum(jnp.abs(state.beta.T) * sizes[None], 1) ** 2
    )
    squared = jnp.where(jnp.abs(squared) < bound, jnp.abs(squared), squared)
    beta_q = jnp.sum(state.beta * start.q[:m, None], axis=0)
    told = bool(jnp.isfinite(start.squared_norm))
    cosine = None
    if told:
        c, norm = state.c, start.squared_norm
        squared = squared + 2 * c * beta_q + c**2 * norm
        cosine = cosine_distance(squared, beta_q + c * norm, norm)
    distance = jnp.sqrt(squared)
    metrics = jnp.asarray(np.moveaxis(curves.rows, 0, 1))
    return History(
        train_loss=metrics[..., 0],
        train_accuracy=metrics[..., 1],
        test_loss=metrics[..., 2],
        test_accuracy=metrics[..., 3],
        iterations_by_batch=jnp.asarray(curves.by_batch),
        iterations_by_epoch=jnp.asarray(curves.by_epoch),
        distance=distance,
        cosine=cosine,
        outputs=outputs.T,
        diverged=~jnp.isfinite(metrics).all((1, 2)) | ~jnp.isfinite(distance),
        coefficients=state.beta.T,
    )
