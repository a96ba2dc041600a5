"""Few samples of a known norm with real targets: what theorems about width take."""

from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from ... import data
from ..._types import PRNGKey
from .samples import load_samples

SPHERE = "sphere"
"""Name of points that are uniform on a sphere."""


class Points(NamedTuple):
    """Samples, train and test.

    Attributes:
        x: Training samples as rows.
        y: Their targets, one column.
        x_test: Test samples.
        y_test: Their targets.
    """

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, "n 1"]
    x_test: Float[np.ndarray, "m d"]
    y_test: Float[np.ndarray, "m 1"]


def draw_points(
    name: str,
    num_train: int,
    num_test: int,
    *,
    dim: int,
    key: PRNGKey,
    directory: Path | None = None,
    norm: float | None = None,
) -> Points:
    r"""Take samples of a data set, or of the sphere.

    On the sphere of radius $\sqrt d$ the target is $(x_1 + x_1 x_2) / \sqrt 2$; images
    have the target 1 for the first five of ten classes and -1 for the others, and are
    scaled to that radius one by one.

    Args:
        name: `sphere`, or a data set of ten classes.
        num_train: Training samples.
        num_test: Test samples.
        dim: Dimension of the sphere's space.
        key: Draws or chooses samples.
        directory: Where to look for a data set first.
        norm: Of each sample; the root of the dimension by default.

    Returns:
        The samples, in float64.

    Raises:
        ValueError: If there are no samples to take, or too few dimensions.
    """
    if min(num_train, num_test) < 1:
        raise ValueError(
            "num_train and num_test must be at least 1, got "
            f"{num_train} and {num_test}."
        )
    if name == SPHERE:
        if dim < 2:
            raise ValueError(f"dim must be at least 2, got {dim}.")
        z = np.asarray(jax.random.normal(key, (num_train + num_test, dim)), np.float64)
        x = _scaled(z, dim**0.5)
        y = (x[:, 0] + x[:, 0] * x[:, 1]) / 2**0.5
    else:
        total = num_train + num_test
        taken = load_samples(name, directory, total, num_test, key=key).dataset
        x = np.asarray(taken.x, np.float64).reshape(total, -1)
        y = 2.0 * np.asarray(data.cifar2(taken).y, np.float64) - 1
    x = _scaled(x, x.shape[1] ** 0.5 if norm is None else norm)
    return Points(
        x[:num_train], y[:num_train, None], x[num_train:], y[num_train:, None]
    )


def _scaled(x: Float[np.ndarray, "n d"], norm: float) -> Float[np.ndarray, "n d"]:
    return norm * x / np.linalg.norm(x, axis=1, keepdims=True)
