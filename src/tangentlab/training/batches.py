"""Which samples each step sees."""

from functools import partial

import jax
from jaxtyping import Array, Int

from .._types import PRNGKey
from .recipe import Recipe


def epoch_batches(
    key: PRNGKey, epoch: int, num_train: int, recipe: Recipe
) -> Int[Array, "steps b"]:
    """Indices of the samples in each batch of an epoch.

    Args:
        key: The key given to training.
        epoch: Number of the epoch, from 0.
        num_train: Number of training samples.
        recipe: Its batch size.

    Returns:
        A fresh permutation of the training split, an incomplete last batch left out.
    """
    shape = recipe.steps_per_epoch(num_train), recipe.batch_size
    return _shuffled(key, epoch, num_train, shape)


@partial(jax.jit, static_argnums=(2, 3))
def _shuffled(key, epoch, num_train: int, shape: tuple[int, int]):
    order = jax.random.permutation(jax.random.fold_in(key, epoch), num_train)
    return order[: shape[0] * shape[1]].reshape(shape)
