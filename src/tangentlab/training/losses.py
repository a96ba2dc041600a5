"""The loss of binary classification on one logit, and its accuracy."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float


def cross_entropy(
    logits: Float[Array, " n"], y: Float[Array, " n"]
) -> Float[Array, " n"]:
    r"""Sigmoid cross-entropy, $\log(1 + e^f) - y f$, of each sample.

    Args:
        logits: Outputs $f$ of the network.
        y: Labels, 0 or 1.

    Returns:
        One loss per sample; $\log 2$ at a logit of 0.
    """
    return optax.sigmoid_binary_cross_entropy(logits, y)


def correct(logits: Float[Array, " n"], y: Float[Array, " n"]) -> Bool[Array, " n"]:
    """Whether each sample falls on its label's side of zero.

    Args:
        logits: Outputs of the network; exactly 0 counts as class 0.
        y: Labels, 0 or 1.

    Returns:
        One answer per sample.
    """
    return (logits > 0) == jnp.asarray(y, bool)
