"""How to train: the paper's recipe by default."""

import dataclasses
import math

import jax.numpy as jnp
import optax
from jaxtyping import Array, ArrayLike, Float


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
    learning_rate: float = 0.05
    """Initial learning rate; it falls linearly to zero over all steps."""
    momentum: float = 0.9
    """Of the heavy ball: v <- momentum * v + gradient, params <- params - rate * v."""

    def __post_init__(self):
        """Refuse values no training can have.

        Raises:
            ValueError: For an epoch count, batch size or rate that is not positive, or
                a momentum outside [0, 1).
        """
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"`{name}` must be a positive integer, got {value}.")
        rate = self.learning_rate
        if not 0 < rate < math.inf:
            raise ValueError(f"`learning_rate` must be positive, got {rate}.")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"`momentum` must lie in [0, 1), got {self.momentum}.")

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
                f"samples: set batch_size to {num_train} or less."
            )
        return num_train // self.batch_size

    def optimizer(self, num_train: int) -> optax.GradientTransformation:
        """The optimizer for a training split of this size.

        Args:
            num_train: Number of training samples, which sets the number of steps.

        Returns:
            An optax optimizer.
        """
        steps = self.epochs * self.steps_per_epoch(num_train)

        def rate(step: ArrayLike) -> Float[Array, ""]:
            # In the widest float there is: optax's own schedules stay in float32.
            return self.learning_rate * (1 - jnp.asarray(step, float) / steps)

        return optax.sgd(rate, momentum=self.momentum)
