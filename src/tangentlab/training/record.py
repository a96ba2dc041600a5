"""The record that the training stage returns."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, PyTree

FITTED = 0.01
"""The training loss up to which iterations are counted."""


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
        diverged: True where a loss, or the distance, was not finite.
        params: Final parameters, one tree per task; empty in function space.
        states: Final batch statistics, likewise.
        coefficients: In function space $\beta$, with
            $\theta_T - \theta_0 = J^\top \beta + c\,\theta_0$ over the training
            samples, where $c = 0$ without weight decay; else None.
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
