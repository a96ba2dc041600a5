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
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from .._compiling import compiled
from .._linalg import HIGHEST
from .gram_rows import Part
from .losses import LOSSES, LossName, totals
from .recipe import Recipe

_INSIDE = {"mode": "promise_in_bounds", "unique_indices": True}


class Start(NamedTuple):
    r"""The network where training starts.

    Attributes:
        f_0: Its outputs.
        q: $J \theta_0$; zeros where nobody told.
        squared_norm: $\|\theta_0\|^2$; NaN where nobody told.
    """

    f_0: Float[Array, " n"]
    q: Float[Array, " n"]
    squared_norm: Float[Array, ""]


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


class Rule(NamedTuple):
    """What of a recipe a step is compiled for: not the epochs, nor the rates.

    Attributes:
        loss: The loss.
        momentum: Of the heavy ball, or Nesterov's.
        nesterov: Which of them.
        weight_decay: Toward zero.
        start_decay: Toward the initial parameters.
    """

    loss: LossName
    momentum: float
    nesterov: bool
    weight_decay: float
    start_decay: float


def rule_of(recipe: Recipe) -> Rule:
    """What of a recipe a step is compiled for.

    Args:
        recipe: The recipe.

    Returns:
        The rule.
    """
    return Rule(*(getattr(recipe, field) for field in Rule._fields))


@partial(compiled, static_argnames="rule", donate_argnums=0)
def run_steps(
    state: DualState,
    start: Start,
    y: Float[Array, "n t"],
    part: Part,
    rates: Float[ArrayLike, " steps"],
    rule: Rule,
) -> tuple[DualState, Float[Array, "steps t 2"]]:
    """Take some steps of an epoch.

    Args:
        state: Where all tasks are; its memory is reused.
        start: Initial outputs.
        y: Targets of all tasks.
        part: Batches and their rows of the Gram matrix.
        rates: The learning rate of each step.
        rule: Loss, momentum and decays.

    Returns:
        The new state, and for each step the summed loss and the number of correct
        answers before it.
    """
    loss = LOSSES[rule.loss]

    def step(state, now):
        places, batch, rate = now
        rows = part.rows.at[places, : len(state.beta)].get(**_INSIDE)
        f = jnp.matmul(rows, state.beta, precision=HIGHEST)
        f = f + start.f_0[batch][:, None] + start.q[batch][:, None] * state.c[None]
        e = loss.slope(f, y[batch]) / len(batch)
        return _moved(state, e, batch, rate, rule), totals(loss, f.T, y[batch].T)

    return jax.lax.scan(step, state, (part.places, part.batches, rates))


def _moved(state: DualState, e, batch, rate, rule: Rule) -> DualState:
    """The state after a step with slopes `e` on the samples of the batch."""
    toward_0, toward_start, mu = rule.weight_decay, rule.start_decay, rule.momentum
    beta, u, c, v = state

    def with_gradient(kept):
        decay = toward_0 + toward_start
        kept = kept + decay * beta if decay else kept
        return kept.at[batch].add(e, **_INSIDE)

    u = with_gradient(mu * u)
    g = toward_0 * (1 + c) + toward_start * c
    v = mu * v + g
    if rule.nesterov:
        beta = beta - rate * with_gradient(mu * u)
        return DualState(beta, u, c - rate * (g + mu * v), v)
    return DualState(beta - rate * u, u, c - rate * v, v)
