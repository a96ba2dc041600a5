"""How to train: the paper's recipe by default."""

import dataclasses
import math
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, ArrayLike, Float

from .._checks import check_known
from .losses import LOSSES, LossName
from .schedules import SCHEDULES, ScheduleName

OptimizerName = Literal["sgd", "adam"]
_RATES: dict[OptimizerName, float] = {"sgd": 0.05, "adam": 1e-3}
"""The paper's, and for Adam, of which it tells none, ours."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Stochastic gradient descent as the paper runs it.

    Heavy-ball momentum, a learning rate that falls linearly to zero, mean sigmoid
    cross-entropy on one logit, no weight decay, no augmentation.
    """

    epochs: int = 100
    """Passes over the training samples."""
    batch_size: int = 128
    """Samples in a step; an incomplete last batch of an epoch is left out."""
    learning_rate: float | None = None
    """Largest learning rate; by default 0.05, the paper's, and 0.001 for Adam, for
    which it has none."""
    momentum: float = 0.9
    """Of the heavy ball: v <- momentum * v + gradient, params <- params - rate * v. For
    Adam the decay of the mean gradient."""
    schedule: ScheduleName = "linear"
    """The rate falls linearly to zero over all steps, stays constant, or rises from a
    25th in the first 30 % of the steps and then falls to zero (one_cycle). The cycle in
    the paper's code rises for 40 %, from a 1e8th, and falls as far."""
    optimizer: OptimizerName = "sgd"
    """sgd, or adam with its usual constants 0.999 and 1e-8."""
    nesterov: bool = False
    """Nesterov's momentum: params <- params - rate * (gradient + momentum * v)."""
    weight_decay: float = 0.0
    """Times the parameters, added to the gradient; of all parameters, biases too."""
    start_decay: float = 0.0
    """Times the distance from the initial parameters, added to the gradient."""
    loss: LossName = "cross_entropy"
    """cross_entropy, for labels 0 and 1; or square, half the squared error, for which
    labels 0 and 1 become targets -1 and +1, and regression targets stay as they are."""

    def __post_init__(self):
        """Refuse values no training can have.

        Raises:
            ValueError: For what is no number, an epoch count, batch size or rate that
                is not positive, a momentum outside [0, 1), a negative decay, or an
                unknown name.
        """
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"`{name}` must be a positive integer, got {value!r}.")
        for name in ("learning_rate", "momentum", "weight_decay", "start_decay"):
            value = getattr(self, name)
            given = value is not None or name != "learning_rate"
            if given and (isinstance(value, str) or not hasattr(value, "__float__")):
                raise ValueError(f"`{name}` must be a number, got {value!r}.")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"`momentum` must lie in [0, 1), got {self.momentum}.")
        for name in ("weight_decay", "start_decay"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"`{name}` must be at least 0, got {value}.")
        check_known("schedule", self.schedule, SCHEDULES)
        if not isinstance(self.optimizer, str):
            raise ValueError(
                "`optimizer` must be the name of one, 'sgd' or 'adam', got "
                f"{type(self.optimizer).__name__}: give one of optax to the training, "
                "`tl.train(..., recipe, optimizer=optax.adamw(1e-3))`."
            )
        check_known("optimizer", self.optimizer, get_args(OptimizerName))
        check_known("loss", self.loss, LOSSES)
        if not 0 < self.largest_rate < math.inf:
            raise ValueError(
                f"`learning_rate` must be positive, got {self.learning_rate}."
            )

    @property
    def largest_rate(self) -> float:
        """The learning rate, its default filled in."""
        if self.learning_rate is None:
            return _RATES[self.optimizer]
        return self.learning_rate

    def steps_per_epoch(self, num_train: int) -> int:
        """Number of full batches in the training split.

        Args:
            num_train: Number of training samples.

        Returns:
            The number of steps.

        Raises:
            ValueError: If not even one batch fits.
        """
        if num_train < self.batch_size:
            raise ValueError(
                f"A batch of {self.batch_size} does not fit {num_train} training "
                f"samples: set the recipe's batch_size to {num_train} or less."
            )
        return num_train // self.batch_size

    def rate(self, step: ArrayLike, num_train: int) -> Float[Array, ""]:
        """The learning rate of a step.

        Args:
            step: Number of the step, from 0.
            num_train: Number of training samples, which sets the number of steps.

        Returns:
            The rate, in the widest float there is: optax's own stay in float32.
        """
        steps = self.epochs * self.steps_per_epoch(num_train)
        done = jnp.asarray(step, float) / steps
        return self.largest_rate * SCHEDULES[self.schedule](done)

    def rates(self, num_train: int) -> Float[Array, " k"]:
        """The learning rates of all steps.

        Args:
            num_train: Number of training samples.

        Returns:
            One rate for each step.
        """
        steps = jnp.arange(self.epochs * self.steps_per_epoch(num_train))
        return jax.vmap(lambda step: self.rate(step, num_train))(steps)

    def make_optimizer(self, num_train: int) -> optax.GradientTransformation:
        """The optimizer for a training split of this size, without the decays.

        Args:
            num_train: Number of training samples, which sets the number of steps.

        Returns:
            An optax optimizer.
        """

        def rate(step: ArrayLike) -> Float[Array, ""]:
            return self.rate(step, num_train)

        if self.optimizer == "adam":
            return optax.adam(rate, b1=self.momentum, nesterov=self.nesterov)
        return optax.sgd(rate, momentum=self.momentum, nesterov=self.nesterov)


def check_is_recipe(recipe: Any) -> None:
    """Raise unless it is a recipe.

    Args:
        recipe: What was passed for one.

    Raises:
        TypeError: If it is something else, such as a dictionary.
    """
    if not isinstance(recipe, Recipe):
        fix = "tl.Recipe(**recipe)" if isinstance(recipe, dict) else "tl.Recipe()"
        raise TypeError(
            f"`recipe` must be a `Recipe`, got {type(recipe).__name__}: pass `{fix}`."
        )
