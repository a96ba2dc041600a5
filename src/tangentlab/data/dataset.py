"""The record that the data stage returns."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from .._types import AnyArray


class Dataset(eqx.Module):
    """Labeled samples, the training split first, then the test split.

    Attributes:
        x: Samples; images are (height, width, channels) in [0, 1] until normalized.
        y: Class of each sample, an index into `names`.
        names: Class names.
        num_train: How many samples, from the first on, belong to the training split.
        name: What the data set is called in tables and figures.
    """

    x: Float[AnyArray, "n ..."]
    y: Int[AnyArray, " n"]
    names: tuple[str, ...] = eqx.field(static=True)
    num_train: int = eqx.field(static=True)
    name: str = eqx.field(static=True, default="data")

    def __check_init__(self):
        """Refuse samples or labels that no experiment could use.

        Raises:
            ValueError: For samples that are not floats, or none, or not finite; labels
                that are not integers, not one a sample, or out of range; or a split
                outside the data.
        """
        _check_samples(self.name, self.x)
        n = len(self.x)
        _check_labels(self.name, self.y, n)
        if not 0 < self.num_train <= n:
            raise ValueError(
                f"{self.name}: num_train must lie in 1..{n}, got {self.num_train}."
            )
        y = np.asarray(self.y)
        if y.min() < 0 or y.max() >= len(self.names):
            raise ValueError(
                f"{self.name}: labels must lie in 0..{len(self.names) - 1} "
                f"({len(self.names)} classes), got {y.min()}..{y.max()}."
            )
        check_finite(self.name, self.x)

    @property
    def num_test(self) -> int:
        """How many samples belong to the test split."""
        return len(self.x) - self.num_train

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return tuple(self.x.shape[1:])


def check_finite(name: str, x: Float[AnyArray, "n ..."]) -> None:
    """Raise where samples are not finite.

    Args:
        name: What to call the data in the message.
        x: The samples.

    Raises:
        ValueError: If a sample holds NaN or infinite values; says which.
    """
    with np.errstate(all="ignore"):
        if np.isfinite(float(x.sum())):  # takes no array of the size of the samples
            return
    bad = ~np.isfinite(np.asarray(x).reshape(len(x), -1)).all(axis=1)
    if bad.any():
        raise ValueError(
            f"{name}: sample {int(bad.argmax())} holds NaN or infinite "
            f"values ({int(bad.sum())} samples do)."
        )


def _check_samples(name: str, x: AnyArray) -> None:
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise ValueError(
            f"{name}: samples must be floating-point numbers, got {x.dtype}. Convert "
            "them, for instance with `x.astype('float32')`; images of bytes are also "
            "divided by 255."
        )
    if x.ndim == 0 or len(x) == 0:
        raise ValueError(
            f"{name}: there are no samples, got `x` of shape {x.shape}; they lie along "
            "the first axis."
        )


def _check_labels(name: str, y: AnyArray, n: int) -> None:
    if y.ndim != 1 or not jnp.issubdtype(y.dtype, jnp.integer):
        raise ValueError(
            f"{name}: labels must be one integer for each sample, shape ({n},), got "
            f"{y.dtype} of shape {y.shape}. Use `y.argmax(1)` for one-hot rows, "
            "`y.ravel()` for a column, `y.astype(int)` for whole floats."
        )
    if len(y) != n:
        raise ValueError(
            f"{name}: {n} samples but {len(y)} labels; each sample needs one label."
        )
