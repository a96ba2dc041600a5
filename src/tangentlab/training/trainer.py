"""One step of one network on one task: what every way of training has in common."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Float

from .._types import Params, State
from ..models import Model
from ..models.trees import split_differentiable
from .losses import LOSSES, totals
from .recipe import Recipe


class Learner(NamedTuple):
    """A network in training.

    Attributes:
        params: Its parameters.
        state: Its batch statistics.
        memory: What the optimizer remembers.
    """

    params: Params
    state: State
    memory: Any


class Trainer(NamedTuple):
    """The pure functions of training one network on one task.

    Attributes:
        begin: `begin(start, y) -> learner`, the parameters where training starts; `y`
            is there to be mapped over.
        step: `step(learner, start, x, y, batch) -> (learner, (2,))`, with the summed
            loss and the number of correct answers before the step.
        predict: `predict(learner, start, x) -> (n,)`.
    """

    begin: Callable[..., Learner]
    step: Callable[..., tuple[Learner, Float[Array, " 2"]]]
    predict: Callable[..., Float[Array, " n"]]


def make_trainer(
    network: Callable[[Params], Model],
    recipe: Recipe,
    optimizer: optax.GradientTransformation,
) -> Trainer:
    """Write down how one network learns one task.

    Args:
        network: From the initial parameters to the network: a linearization is
            expanded there.
        recipe: Its loss and decays.
        optimizer: The rule of the steps.

    Returns:
        The functions, not compiled.
    """
    loss = LOSSES[recipe.loss]

    def begin(start, y):
        del y
        free, _ = split_differentiable(start)
        return Learner(start, network(start).init_state(), optimizer.init(free))

    def step(learner, start, x, y, batch):
        free, buffers = split_differentiable(learner.params)

        def mean_loss(free):
            params = eqx.combine(free, buffers)
            model = network(start)
            outputs, state = model.apply_train(params, learner.state, x[batch])
            seen = totals(loss, outputs[:, 0], y[batch])
            return seen[0] / len(batch), (state, seen)

        gradient, (state, seen) = jax.grad(mean_loss, has_aux=True)(free)
        gradient = _decayed(recipe, gradient, free, split_differentiable(start)[0])
        update, memory = optimizer.update(gradient, learner.memory, free)
        params = eqx.apply_updates(learner.params, update)
        return Learner(params, state, memory), seen

    def predict(learner, start, x):
        return network(start).freeze(learner.state)(learner.params, x)[:, 0]

    return Trainer(begin, step, predict)


def _decayed(recipe: Recipe, gradient: Params, free: Params, start: Params) -> Params:
    def add(g, theta, theta_0):
        if recipe.weight_decay:
            g = g + recipe.weight_decay * theta
        if recipe.start_decay:
            g = g + recipe.start_decay * (theta - theta_0)
        return g

    return jax.tree.map(add, gradient, free, start)
