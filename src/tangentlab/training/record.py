"""The record that the training stage returns."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

FITTED = 0.01
"""The training loss up to which iterations are counted."""
_FAR = 10.0  # times the loss at the start: no training ends there that is stable


class History(eqx.Module):
    r"""How training went: one row per task, one column per epoch.

    Attributes:
        train_loss: Mean loss over the epoch's batches, each before its step.
        train_accuracy: Likewise.
        test_loss: Mean loss over all test samples at the end of the epoch.
        test_accuracy: Likewise; an output of exactly 0 counts as class 0.
        iterations_by_batch: Steps taken before the first batch whose mean loss is at
            most 0.01; infinite where there is none.
        iterations_by_epoch: Steps taken by the end of the first epoch whose mean loss
            is at most 0.01; infinite where there is none.
        distance: $\|\theta_T - \theta_0\|_2$ over all parameters.
        cosine: $1 - \cos(\theta_T, \theta_0)$; None where function space has nothing to
            tell it from.
        outputs: Final outputs on all samples, train then test.
        diverged: True where a loss, or the distance, was not finite; or the training
            loss of the last epoch is above ten times that of the first batch, and of an
            output of 0. A linear model beyond its largest rate may end there: under
            cross-entropy its loss stays finite.
        params: Final parameters, one tree per task; empty in function space.
        states: Final batch statistics, likewise.
        coefficients: In function space $\beta$, one for each training sample, with
            $\theta_T - \theta_0 = J^\top \beta + c\,\theta_0$; else None.
        origin_coefficient: Likewise $c$, which is 0 without weight decay.
    """

    train_loss: Float[Array, "t e"]
    train_accuracy: Float[Array, "t e"]
    test_loss: Float[Array, "t e"]
    test_accuracy: Float[Array, "t e"]
    iterations_by_batch: Float[Array, " t"]
    iterations_by_epoch: Float[Array, " t"]
    distance: Float[Array, " t"]
    cosine: Float[Array, " t"] | None
    outputs: Float[Array, "t n"]
    diverged: Bool[Array, " t"]
    params: tuple[PyTree, ...] = ()
    states: tuple[PyTree, ...] = ()
    coefficients: Float[Array, "t m"] | None = None
    origin_coefficient: Float[Array, " t"] | None = None

    @property
    def cosine_distance(self) -> Float[Array, " t"]:
        r"""$1 - \cos(\theta_T, \theta_0)$.

        Raises:
            ValueError: If training in function space was not told `origin`.
        """
        if self.cosine is None:
            raise ValueError(
                "The cosine distance needs the initial parameters, of which the Gram "
                "matrix knows nothing: pass `origin=tl.origin(apply, params, x)` to "
                "`tl.train_dual`."
            )
        return self.cosine


def make_history(
    rows: Float[np.ndarray, "t e 4"],
    by_batch: Float[np.ndarray, " t"],
    by_epoch: Float[np.ndarray, " t"],
    *,
    distance: Float[Array, " t"],
    at_start: Float[np.ndarray, " t"],
    **others: Any,
) -> History:
    """The record of what was seen.

    Args:
        rows: For each epoch training loss and accuracy, test loss and accuracy.
        by_batch: Steps to a small training loss, by batches.
        by_epoch: Likewise, by epochs.
        distance: From the start.
        at_start: The training loss before the first step, see `curves.loss_at_start`.
        **others: The other fields, but `diverged`, which follows.

    Returns:
        The history.
    """
    metrics = jnp.asarray(rows)
    finite = np.isfinite(rows).all((1, 2)) & np.isfinite(np.asarray(distance))
    return History(
        train_loss=metrics[..., 0],
        train_accuracy=metrics[..., 1],
        test_loss=metrics[..., 2],
        test_accuracy=metrics[..., 3],
        iterations_by_batch=jnp.asarray(by_batch),
        iterations_by_epoch=jnp.asarray(by_epoch),
        distance=distance,
        diverged=jnp.asarray(~finite | (rows[:, -1, 0] > _FAR * at_start)),
        **others,
    )
