"""The record that the training stage returns."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, PyTree


class History(eqx.Module):
    r"""How training went: one row per task, one column per epoch.

    Attributes:
        train_loss: Mean loss over the epoch's batches, each before its step.
        train_accuracy: Likewise.
        test_loss: Mean loss over all test samples at the end of the epoch.
        test_accuracy: Likewise; a logit of exactly 0 counts as class 0.
        distance: $\|\theta_T - \theta_0\|_2$ over all parameters.
        diverged: True where a loss, or the distance, was not finite.
        params: Final parameters, one tree per task.
        states: Final batch statistics, one tree per task.
    """

    train_loss: Float[Array, "t e"]
    train_accuracy: Float[Array, "t e"]
    test_loss: Float[Array, "t e"]
    test_accuracy: Float[Array, "t e"]
    distance: Float[Array, " t"]
    diverged: Bool[Array, " t"]
    params: tuple[PyTree, ...]
    states: tuple[PyTree, ...]
