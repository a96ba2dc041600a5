"""The losses of one output, and its accuracy."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float

from ..tasks import Task

LossName = Literal["cross_entropy", "square"]


class Loss(NamedTuple):
    """A loss of an output and its target.

    Attributes:
        value: The loss of each sample.
        slope: Its derivative by the output.
        curvature: The largest second derivative.
    """

    value: Callable[[Float[Array, "..."], Float[Array, "..."]], Float[Array, "..."]]
    slope: Callable[[Float[Array, "..."], Float[Array, "..."]], Float[Array, "..."]]
    curvature: float


def cross_entropy(
    logits: Float[Array, "..."], y: Float[Array, "..."]
) -> Float[Array, "..."]:
    r"""Sigmoid cross-entropy, $\log(1 + e^f) - y f$, of each sample.

    Args:
        logits: Outputs $f$ of the network.
        y: Labels, 0 or 1.

    Returns:
        One loss per sample; $\log 2$ at a logit of 0.
    """
    return optax.sigmoid_binary_cross_entropy(logits, y)


def square(outputs: Float[Array, "..."], y: Float[Array, "..."]) -> Float[Array, "..."]:
    r"""Half the squared error, $(f - y)^2 / 2$, of each sample.

    Args:
        outputs: Outputs $f$ of the network.
        y: Targets.

    Returns:
        One loss per sample.
    """
    return (outputs - y) ** 2 / 2


LOSSES: dict[LossName, Loss] = {
    "cross_entropy": Loss(cross_entropy, lambda f, y: jax.nn.sigmoid(f) - y, 0.25),
    "square": Loss(square, lambda f, y: f - y, 1.0),
}


def targets(task: Task, loss: LossName) -> Float[np.ndarray, " n"]:
    """What a loss compares outputs with.

    Args:
        task: The task.
        loss: The loss.

    Returns:
        Labels 0 and 1 for cross-entropy; for the square loss -1 and +1 in their place,
        and targets of regression as they are.

    Raises:
        ValueError: For cross-entropy on a regression task.
    """
    y = np.asarray(task.y)
    if y.dtype.kind in "biu":  # in which 2 y - 1 may have no place
        y = y.astype(np.float32)
    if loss == "square":
        return 2 * y - 1 if task.kind == "binary" else y
    if task.kind != "binary":
        raise ValueError(
            f"{task.name}: cross-entropy needs labels 0 and 1, this is a regression "
            f"task with targets in [{y.min():g}, {y.max():g}]. Train it with "
            "`Recipe(loss='square')`."
        )
    return y


def correct(outputs: Float[Array, "..."], y: Float[Array, "..."]) -> Bool[Array, "..."]:
    """Whether each sample falls on its target's side of zero.

    Args:
        outputs: Outputs of the network; exactly 0 counts as negative, or class 0.
        y: Labels 0 and 1, or targets.

    Returns:
        One answer per sample.
    """
    return (outputs > 0) == (y > 0)


def loss_dtype(outputs: Any) -> np.dtype:
    """In what losses are computed and added up.

    Args:
        outputs: Type of the network's outputs.

    Returns:
        The same, but float32 in place of half precision, in which the number of
        correct answers would stop to grow at a few hundred.
    """
    return np.promote_types(outputs, np.float32)


def totals(
    loss: Loss, outputs: Float[Array, "*r n"], y: Float[Array, "*r n"]
) -> Float[Array, "*r 2"]:
    """Summed loss and number of correct answers.

    Args:
        loss: The loss.
        outputs: Outputs of the network, or of several.
        y: Targets.

    Returns:
        Both numbers, summed over the last axis, at least in float32.
    """
    dtype = loss_dtype(outputs.dtype)
    outputs, y = outputs.astype(dtype), y.astype(dtype)
    losses = loss.value(outputs, y)
    right = correct(outputs, y).sum(-1, dtype=losses.dtype)
    return jnp.stack([losses.sum(-1), right], axis=-1)
