"""The same labels on samples that have lost their structure.

Reference:
    Zhang, Bengio, Hardt, Recht and Vinyals, "Understanding deep learning requires
    rethinking generalization", ICLR 2017, arXiv:1611.03530, Section 2.1.
"""

import dataclasses

import jax
import numpy as np

from .. import data
from .._keys import AnyKey, as_key
from .._linalg import blocks
from ..data import Dataset
from .randomness import draw, sample_keys
from .record import Task

_BLOCK = 4096  # samples moved at once


def shuffled_pixels(task: Task, *, key: AnyKey, per_image: bool = False) -> Task:
    """Permute the pixels of all samples, train and test.

    A pixel moves with all its channels, the last axis; of samples that are vectors the
    coordinates move. One permutation for all samples leaves a network without
    convolutions as much to learn as before; one for each leaves only the histograms.

    Args:
        task: Any task.
        key: Draws the permutation, or all of them; the one of a test sample does not
            depend on the size of the training split.
        per_image: Draw a permutation for each sample.

    Returns:
        The task with new samples and the same labels.

    Raises:
        ValueError: If samples are single numbers, or `key` is no random key.
    """
    key = as_key(key)
    x = np.asarray(task.x)
    if x.ndim < 2:
        raise ValueError(
            f"{task.name}: samples are single numbers, x has shape {x.shape}; there "
            "are no pixels to permute."
        )
    channels = 1 if x.ndim == 2 else x.shape[-1]
    pixels = x.reshape(len(x), -1, channels)
    size = pixels.shape[1]
    if not per_image:
        order = np.asarray(jax.random.permutation(key, np.arange(size)))
        moved, name = pixels[:, order], f"{task.name}, shuffled pixels"
    else:
        moved, name = np.empty_like(pixels), f"{task.name}, pixels shuffled per image"
        keys = sample_keys(key, task.num_train, len(x) - task.num_train)
        for rows in blocks(len(x), _BLOCK):
            # Sorting in numpy is more than twice as fast as `jax.random.permutation`.
            bits = draw(jax.random.bits, keys[rows], (size,), np.uint32)
            order = np.argsort(bits, axis=1, kind="stable")
            moved[rows] = np.take_along_axis(pixels[rows], order[:, :, None], axis=1)
    return dataclasses.replace(task, x=moved.reshape(x.shape), name=name)


def gaussian_images(task: Task, *, key: AnyKey) -> Task:
    r"""Replace samples by independent Gaussian noise of the data's moments.

    Each channel $c$, the last axis, has the mean and the standard deviation it has over
    the training split, $x \sim \mathcal N(m_c, s_c^2)$, at every position of every
    sample; so nothing ties a label to its sample. Coordinates of vectors are channels;
    single numbers, without an axis for them, are refused.

    Args:
        task: Any task.
        key: Draws the noise; that of a test sample does not depend on the size of the
            training split.

    Returns:
        The task with new samples of the same dtype and the same labels.
    """
    key = as_key(key)
    x, n = np.asarray(task.x), len(task.x)
    unlabeled = np.zeros(n, np.int32)
    mean, std = data.channel_moments(
        Dataset(x, unlabeled, ("any",), task.num_train, name=task.name)
    )
    noise = np.empty_like(x)
    keys = sample_keys(key, task.num_train, n - task.num_train)
    for rows in blocks(n, _BLOCK):
        noise[rows] = mean + std * draw(jax.random.normal, keys[rows], x.shape[1:])
    return dataclasses.replace(task, x=noise, name=f"{task.name}, Gaussian images")
