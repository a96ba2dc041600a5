"""Random data of known structure, to check measurements against.

Labels are signs along one direction, so the task is linearly separable and known.
Training and test split are drawn by different keys: the size of one does not change
the other.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Float32

from .._types import AnyArray, PRNGKey
from .dataset import Dataset

_NAMES = ("negative", "positive")


def gaussian(
    key: PRNGKey,
    num_train: int,
    num_test: int,
    *,
    shape: tuple[int, ...],
    scale: Float[AnyArray, "..."] | float = 1.0,
    direction: Float[AnyArray, "..."] | None = None,
) -> Dataset:
    r"""Independent centered Gaussian coordinates.

    $$x = s \odot z, \quad z \sim \mathcal N(0, I)$$

    so the covariance is diagonal with the squares of the scales $s$.

    Args:
        key: Draws the samples.
        num_train: Number of training samples.
        num_test: Number of test samples.
        shape: Shape of one sample.
        scale: Standard deviation of each coordinate, or one for all.
        direction: A sample is positive where its product with this is; the first
            coordinate if not given.

    Returns:
        Samples as float32 with labels 0 and 1.

    Raises:
        ValueError: If `scale` or `direction` do not have the shape of a sample.
    """
    z = _normal(key, num_train, num_test, shape)
    scales = np.asarray(scale, np.float32)
    if scales.shape not in ((), shape):
        raise ValueError(
            "gaussian: `scale` must be one number or of the shape of a sample, "
            f"{shape}, got {scales.shape}."
        )
    return _labeled(z * scales, num_train, "gaussian", _first(shape), direction)


def sphere(
    key: PRNGKey,
    num_train: int,
    num_test: int,
    *,
    dim: int,
    direction: Float[AnyArray, " d"] | None = None,
) -> Dataset:
    r"""Uniform points on the unit sphere of $\mathbb R^d$.

    Their mean is 0 and their covariance $I / d$.

    Args:
        key: Draws the samples.
        num_train: Number of training samples.
        num_test: Number of test samples.
        dim: The dimension $d$.
        direction: A sample is positive where its product with this is; the first
            coordinate if not given.

    Returns:
        Samples of unit norm as float32 with labels 0 and 1.
    """
    z = _normal(key, num_train, num_test, (dim,)).astype(np.float64)
    x = (z / np.linalg.norm(z, axis=1, keepdims=True)).astype(np.float32)
    return _labeled(x, num_train, "sphere", _first((dim,)), direction)


def one_over_f(
    key: PRNGKey,
    num_train: int,
    num_test: int,
    *,
    shape: tuple[int, int, int] = (32, 32, 3),
    exponent: float = 1.0,
    direction: Float[AnyArray, "h w c"] | None = None,
) -> Dataset:
    r"""Gaussian images whose amplitudes fall with frequency, as in natural images.

    $$|\hat x(f)| \propto \max(\|f\|, f_{\min})^{-a}$$

    with $\|f\|$ the distance of a frequency from 0 in cycles per pixel, and $f_{\min}$
    the lowest other than 0, which bounds the constant part. Pixels have mean 0 and
    variance 1; channels are independent; images wrap around at the edges.

    Args:
        key: Draws the samples.
        num_train: Number of training samples.
        num_test: Number of test samples.
        shape: Height, width and channels of an image.
        exponent: The exponent $a$; 0 gives white noise.
        direction: A sample is positive where its product with this is; one horizontal
            wave, the lowest frequency, in all channels if not given.

    Returns:
        Images as float32, already normalized, with labels 0 and 1.
    """
    height, width, _ = shape
    rows, columns = np.fft.fftfreq(height), np.fft.rfftfreq(width)
    frequency = np.hypot(rows[:, None], columns[None, :])
    lowest = 1 / max(height, width)
    amplitude = np.maximum(frequency, lowest) ** -exponent
    full = np.hypot(rows[:, None], np.fft.fftfreq(width)[None, :])
    variance = np.mean(np.maximum(full, lowest) ** (-2 * exponent))
    filtered = (amplitude / math.sqrt(variance))[:, :, None].astype(np.float32)

    z = _normal(key, num_train, num_test, shape)
    spectrum = np.fft.rfft2(z, axes=(1, 2)) * filtered
    x = np.fft.irfft2(spectrum, s=(height, width), axes=(1, 2)).astype(np.float32)
    wave = np.broadcast_to(
        np.cos(2 * np.pi * np.arange(width) / width)[None, :, None], shape
    )
    return _labeled(x, num_train, "one_over_f", wave, direction)


def _normal(
    key: PRNGKey, num_train: int, num_test: int, shape: tuple[int, ...]
) -> Float32[np.ndarray, "n ..."]:
    train_key, test_key = jax.random.split(key)
    train = jax.random.normal(train_key, (num_train, *shape), jnp.float32)
    test = jax.random.normal(test_key, (num_test, *shape), jnp.float32)
    return np.concatenate([np.asarray(train), np.asarray(test)])


def _first(shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    direction = np.zeros(shape)
    direction.flat[0] = 1.0
    return direction


def _labeled(
    x: Float32[np.ndarray, "n ..."],
    num_train: int,
    name: str,
    default: Float[np.ndarray, "..."],
    direction: Float[AnyArray, "..."] | None,
) -> Dataset:
    chosen = default if direction is None else np.asarray(direction)
    if chosen.shape != x.shape[1:]:
        raise ValueError(
            f"{name}: `direction` must have the shape of a sample, {x.shape[1:]}, got "
            f"{chosen.shape}."
        )
    y = (x.reshape(len(x), -1) @ chosen.ravel().astype(np.float32) > 0).astype(np.int32)
    return Dataset(x, y, names=_NAMES, num_train=num_train, name=name)
