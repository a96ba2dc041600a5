"""Test error against width, through the point where the model just interpolates."""

import numpy as np
from jaxtyping import Float

_NOISE = 0.1


def width_curve(
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, " n"],
    num_train: int,
    widths: tuple[int, ...],
    draws: int,
    seed: int,
) -> Float[np.ndarray, "r w 2"]:
    r"""Errors of a network whose last layer alone is trained, for each width.

    Hidden units are random ReLU features; of all output weights that fit best the
    smallest are taken, where gradient descent from 0 ends. A tenth of the training
    labels is flipped.

    Args:
        x: Samples, flattened.
        y: Labels -1.0 and 1.0.
        num_train: How many of them are trained on.
        widths: Numbers of hidden units.
        draws: Of samples, noise and features.
        seed: Decides them.

    Returns:
        Mean squared error in training and in the test.
    """
    errors = np.empty((draws, len(widths), 2))
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        order = rng.permutation(len(x))
        flips = np.where(rng.random(num_train) < _NOISE, -1.0, 1.0)
        train, test = order[:num_train], order[num_train:]
        W = rng.normal(size=(x.shape[1], max(widths))) / x.shape[1] ** 0.5
        hidden = np.maximum(x @ W, 0)
        for column, width in enumerate(widths):
            features = hidden[:, :width] / width**0.5
            target = y[train] * flips
            a = np.linalg.lstsq(features[train], target, rcond=1e-10)[0]
            residuals = features[train] @ a - target, features[test] @ a - y[test]
            errors[draw, column] = [np.mean(each**2) for each in residuals]
    return errors
