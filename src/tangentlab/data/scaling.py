"""Standardize samples, channel by channel, with the training split alone."""

import dataclasses

import numpy as np
from jaxtyping import Float64

from .._linalg import blocks
from .dataset import Dataset

_BLOCK = 4096  # samples at a time, in float64


def channel_moments(
    dataset: Dataset,
) -> tuple[Float64[np.ndarray, " channels"], Float64[np.ndarray, " channels"]]:
    """Mean and standard deviation of each channel over the training split.

    Args:
        dataset: Samples whose last axis counts channels: colors of an image, or the
            coordinates of a vector.

    Returns:
        Means and standard deviations (divided by the number of values, not one less),
        taken over training samples and positions, accumulated in float64.

    Raises:
        ValueError: If samples are single numbers, without an axis for channels.
    """
    x = np.asarray(dataset.x)
    if x.ndim < 2:
        raise ValueError(
            f"{dataset.name}: samples need an axis for channels, got x of shape "
            f"{x.shape}. Use `x[:, None]` for single numbers."
        )
    num = 0
    mean = np.zeros(x.shape[-1])
    squares = np.zeros(x.shape[-1])
    for rows in blocks(dataset.num_train, _BLOCK):
        # A copy, always: it is changed in place below.
        values = np.array(x[rows].reshape(-1, x.shape[-1]).T, np.float64, order="C")
        size = values.shape[1]
        block_mean = values.mean(axis=1)
        values -= block_mean[:, None]
        # Squares about the mean of both: each about its own, and the two means apart.
        gap = block_mean - mean
        squares += np.square(values, out=values).sum(axis=1)
        squares += gap**2 * (num * size / (num + size))
        mean += gap * (size / (num + size))
        num += size
    return mean, np.sqrt(squares / num)


def normalize(dataset: Dataset) -> Dataset:
    """Give each channel mean 0 and standard deviation 1 on the training split.

    Both splits are shifted and scaled by the moments of the training split, so the test
    split never enters. Normalize after `subset` to use the moments of the subset,
    before it to use those of all training samples.

    Args:
        dataset: Samples whose last axis counts channels, as in `channel_moments`.

    Returns:
        The data set with new samples, of the same dtype.

    Raises:
        ValueError: If a channel is constant over the training split: it has no scale.

    Example:
        >>> from tangentlab.data import load
        >>> digits = normalize(load("digits"))
        >>> abs(float(digits.x[: digits.num_train].mean())) < 1e-6
        True
    """
    x = np.asarray(dataset.x)
    mean, std = channel_moments(dataset)
    # A constant that is no binary fraction leaves a rounding error behind.
    constant = np.flatnonzero(std <= 1e-7 * np.abs(mean))
    if constant.size:
        raise ValueError(
            f"{dataset.name}: {constant.size} of {std.size} channels are constant over "
            f"the {dataset.num_train} training samples, the first is channel "
            f"{constant[0]}. Drop them; if the last axis counts pixels, not channels, "
            "add an axis with `x[..., None]`."
        )
    # Repeated to the shape of a sample: broadcasting three colors is slow.
    shift = np.broadcast_to(mean.astype(x.dtype), x.shape[1:]).copy()
    width = np.broadcast_to(std.astype(x.dtype), x.shape[1:]).copy()
    scaled = np.empty_like(x)
    for rows in blocks(len(x), _BLOCK):
        np.subtract(x[rows], shift, out=scaled[rows])
        scaled[rows] /= width
    return dataclasses.replace(dataset, x=scaled)
