r"""Steps of the linearized model in function space.

SGD never leaves the span of the examples' gradients, so that $\theta_t - \theta_0 =
J^\top \beta_t + c_t\,\theta_0$, and momentum lives in the same coordinates. A step
needs the outputs of its batch, $f = f_0 + K \beta + c\,q$ with $q = J \theta_0$, and so
the rows of the Gram matrix that belong to the batch, nothing else. They are computed
afresh in every step, so that no rounding adds up: keeping all outputs up to date would
cost as many operations.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._linalg import HIGHEST
from .gram_rows import Part
from .losses import LOSSES, correct
from .recipe import Recipe


class DualState(NamedTuple):
    """Where all tasks are, and how fast.

    Attributes:
        beta: Coefficients of the training samples' gradients.
        u: Their velocities.
        c: Coefficient of the initial parameters; 0 without weight decay.
        v: Its velocity.
    """

    beta: Float[Array, "m t"]
    u: Float[Array, "m t"]
    c: Float[Array, " t"]
    v: Float[Array, " t"]


class DualProblem(NamedTuple):
    r"""What is the same in every step.

    Attributes:
        f_0: Outputs of the network at the start.
        q: Outputs of $J \theta_0$, or zeros.
        y: Targets of all tasks.
    """

    f_0: Float[Array, " n"]
    q: Float[Array, " n"]
    y: Float[Array, "n t"]


@partial(jax.jit, static_argnames="recipe", donate_argnums=0)
def run_steps(
    state: DualState,
    problem: DualProblem,
    part: Part,
    rates: Float[Array, " steps"],
    recipe: Recipe,
) -> tuple[DualState, Float[Array, "steps t 2"]]:
    """Take some steps of an epoch.

    Args:
        state: Where all tasks are; its memory is reused.
        problem: Initial outputs and targets.
        part: Batches and their rows of the Gram matrix.
        rates: The learning rate of each step.
        recipe: Loss, momentum and decays.

    Returns:
        The new state, and for each step the summed loss and the number of correct
        answers before it.
    """
    loss = LOSSES[recipe.loss]

    def step(state, now):
        places, batch, rate = now
        rows = part.rows.at[places, : len(state.beta)].get(**_INSIDE)
        f = jnp.matmul(rows, state.beta, precision=HIGHEST)
        f = f + problem.f_0[batch][:, None] + problem.q[batch][:, None] * state.c[None]
        y = problem.y[batch]
        right = correct(f, y).sum(0, dtype=f.dtype)
        seen = jnp.stack([loss.value(f, y).sum(0), right], axis=-1)
        e = loss.slope(f, y) / len(batch)
        return _moved(state, e, batch, rate, recipe), seen

    return jax.lax.scan(step, state, (part.places, part.batches, rates))


_INSIDE = {"mode": "promise_in_bounds", "unique_indices": True}


def _moved(state: DualState, e, batch, rate, recipe: Recipe) -> DualState:
    """The state after a step with slopes `e` on the samples of the batch."""
    toward_0, toward_start, mu = (
        recipe.weight_decay,
        recipe.start_decay,
        recipe.momentum,
    )
    beta, u, c, v = state
    decay = (toward_0 + toward_start) * beta if toward_0 + toward_start else None
    u = mu * u if decay is None else mu * u + decay
    u = u.at[batch].add(e, **_INSIDE)
    g = toward_0 * (1 + c) + toward_start * c
    v = mu * v + g
    if not recipe.nesterov:
        return DualState(beta - rate * u, u, c - rate * v, v)
    ahead = mu * u if decay is None else mu * u + decay
    ahead = ahead.at[batch].add(e, **_INSIDE)
    return DualState(beta - rate * ahead, u, c - rate * (g + mu * v), v)
