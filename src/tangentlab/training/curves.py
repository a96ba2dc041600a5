"""Losses and accuracies by epoch, gathered while training runs."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .losses import LOSSES
from .recipe import Recipe
from .record import FITTED


class Curves(NamedTuple):
    """What has been seen so far, on the host; `*r` are the axes of runs.

    Attributes:
        rows: For each epoch training loss and accuracy, test loss and accuracy.
        by_batch: Steps before the first batch with a small loss, or infinity.
        by_epoch: Steps by the end of the first epoch with a small loss, or infinity.
        first: Mean loss of the first batch, before any step; NaN where not known.
    """

    rows: Float[np.ndarray, "e *r 4"]
    by_batch: Float[np.ndarray, "*r"]
    by_epoch: Float[np.ndarray, "*r"]
    first: Float[np.ndarray, "*r"]

    @property
    def epochs(self) -> int:
        """How many epochs have been seen."""
        return len(self.rows)


def no_curves(runs: tuple[int, ...], dtype: np.dtype) -> Curves:
    """Curves before the first epoch.

    Args:
        runs: Axes of runs: `(t,)`, `(s, t)` or none.
        dtype: Of losses.

    Returns:
        Curves of no epochs.
    """
    never = np.full(runs, np.inf)
    unknown = np.full(runs, np.nan)
    return Curves(np.empty((0, *runs, 4), dtype), never, never, unknown)


def extend(
    curves: Curves,
    seen: Float[np.ndarray, "k *r 2"],
    tested: Float[np.ndarray, "*r 2"],
    recipe: Recipe,
) -> Curves:
    """Add an epoch.

    Args:
        curves: The epochs before.
        seen: For each step the summed loss and the number of correct answers.
        tested: Mean loss and accuracy on the test samples.
        recipe: Its batch size.

    Returns:
        The curves with this epoch.
    """
    steps = len(seen)
    with np.errstate(over="ignore", invalid="ignore"):  # a task may diverge
        means = seen.sum(axis=0) / (steps * recipe.batch_size)
    row = np.concatenate([means, tested], axis=-1).astype(curves.rows.dtype)
    small = seen[..., 0] / recipe.batch_size <= FITTED
    first = np.where(small.any(axis=0), small.argmax(axis=0), np.inf)
    done = curves.epochs * steps
    start = seen[0, ..., 0].astype(float) / recipe.batch_size
    by_epoch = np.where(means[..., 0] <= FITTED, done + steps, np.inf)
    return Curves(
        np.concatenate([curves.rows, row[None]]),
        np.minimum(curves.by_batch, done + first),
        np.minimum(curves.by_epoch, by_epoch),
        curves.first if curves.epochs else start,
    )


def loss_at_start(
    curves: Curves, y: Float[np.ndarray, "... m"], recipe: Recipe
) -> Float[np.ndarray, "*r"]:
    """What a training loss is compared with to tell whether training diverged.

    Args:
        curves: All epochs.
        y: Targets of the training samples, shared by all seeds.
        recipe: Its loss.

    Returns:
        The larger of the first batch's loss and that of an output of 0 on all samples.
    """
    targets = jnp.asarray(y)
    of_zero = LOSSES[recipe.loss].value(jnp.zeros_like(targets), targets).mean(-1)
    return np.asarray(np.fmax(curves.first, np.asarray(of_zero, float)))
