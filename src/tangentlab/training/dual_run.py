"""All epochs of some tasks in function space, and their record."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._progress import Advance
from .._types import PRNGKey
from .batches import epoch_batches
from .checkpoint import Checkpoint
from .curves import Curves, extend, loss_at_start, no_curves
from .distances import cosine_distance
from .dual_steps import DualState, Start, rule_of, run_steps
from .gram_rows import GramRows
from .losses import LOSSES
from .program import score
from .recipe import Recipe
from .record import History, make_history


class DualRun(NamedTuple):
    """Everything that decides how some tasks go.

    Attributes:
        rows: The Gram matrix.
        diagonal: Its diagonal.
        start: The network where training starts.
        y: Targets.
        recipe: How to train.
        rates: The learning rate of each step.
        key: Decides the order of samples.
    """

    rows: GramRows
    diagonal: Float[np.ndarray, " n"]
    start: Start
    y: Float[np.ndarray, "t n"]
    recipe: Recipe
    rates: Float[np.ndarray, " k"]
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
    m, dtype, rule = rows.num_train, rows.dtype, rule_of(run.recipe)
    state = DualState(*(jnp.zeros(s, dtype) for s in ((m, t), (m, t), (t,), (t,))))
    curves = no_curves((t,), np.dtype(dtype))
    if checkpoint is not None:
        state, curves = checkpoint.restore((state, curves))
    y, state = rows.beside((jnp.asarray(run.y.T, dtype), state))
    steps = recipe.steps_per_epoch(m)
    rates = run.rates.astype(dtype).reshape(recipe.epochs, steps)
    advance(curves.epochs * steps * t)
    for epoch in range(curves.epochs, recipe.epochs):
        seen, first = [], 0
        for part in rows.parts(epoch_batches(run.key, epoch, m, recipe)):
            some = rates[epoch, first : first + len(part.batches)]
            state, sums = run_steps(state, run.start, y, part, some, rule)
            seen, first = [*seen, np.asarray(sums)], first + len(some)
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
    m, (_, q, norm) = run.rows.num_train, run.start
    outputs, image = _outputs(run, state, slice(0, run.rows.n))
    squared, cosine = _squared_norm(run, state.beta, image[:m]), None
    if jnp.isfinite(norm):
        c, overlap = state.c, jnp.sum(state.beta * q[:m, None], axis=0)
        squared = squared + 2 * c * overlap + c**2 * norm
        cosine = cosine_distance(squared, overlap + c * norm, norm)
    return make_history(
        np.moveaxis(curves.rows, 0, 1),
        curves.by_batch,
        curves.by_epoch,
        distance=jnp.sqrt(squared),
        at_start=loss_at_start(curves, run.y[:, :m], run.recipe),
        cosine=cosine,
        outputs=outputs.T,
        coefficients=state.beta.T,
        origin_coefficient=state.c,
    )


def _squared_norm(
    run: DualRun, beta: Float[Array, "m t"], image: Float[Array, "m t"]
) -> Float[Array, " t"]:
    r"""$\beta^\top K \beta$, which rounding may leave a little below zero."""
    squared = jnp.sum(beta * image, axis=0)
    sizes = jnp.asarray(np.sqrt(run.diagonal[: len(beta)]), beta.dtype)
    bound = jnp.finfo(beta.dtype).eps * jnp.sum(jnp.abs(beta) * sizes[:, None], 0) ** 2
    return jnp.where(jnp.abs(squared) < bound, jnp.abs(squared), squared)
