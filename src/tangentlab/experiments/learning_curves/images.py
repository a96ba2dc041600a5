"""Learning curves on images, from the sample's own spectrum and labels."""

from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from ... import data, infinite, predict, theory
from ...spectra import spectrum

_RIDGE = 1e-3


class Images(NamedTuple):
    """Images with a kernel and labels.

    Attributes:
        x: Images, flattened and normalized.
        K: Kernel of a wide network on them.
        Y: Labels -1.0 and 1.0, a column a task.
        names: Of the tasks.
    """

    x: Float[np.ndarray, "n d"]
    K: Float[np.ndarray, "n n"]
    Y: Float[np.ndarray, "n t"]
    names: tuple[str, ...]


def load_images(
    name: str, directory: Path | None, num: int, modes: tuple[int, ...]
) -> Images:
    """Images labeled by signs of eigenfunctions, and by their halved classes.

    Args:
        name: The data set, of ten classes.
        directory: Where to look for it first.
        num: How many images.
        modes: Eigenfunctions, from 0.

    Returns:
        The images; the kernel has mean diagonal 1.
    """
    whole = data.normalize(data.load(name, directory=directory))
    some = data.subset(whole, num, num_test=0, key=jax.random.key(0))
    x = np.asarray(some.x, np.float64).reshape(num, -1)
    K = np.asarray(infinite.fc(2).ntk(x, precision="float64"), np.float64)
    K = K / np.mean(np.diagonal(K))
    V = np.asarray(spectrum(K).eigenvectors)
    columns = [np.where(V[:, mode] > 0, 1.0, -1.0) for mode in modes]
    columns.append(np.where(np.asarray(some.y) < 5, 1.0, -1.0))
    names = (*(f"sign of eigenfunction {mode + 1}" for mode in modes), "halved classes")
    return Images(x, K, np.stack(columns, axis=1), names)


def image_curves(
    images: Images, sizes: tuple[int, ...], draws: int, seed: int
) -> dict[str, Float[np.ndarray, "..."]]:
    """Mean squared error on images left out, predicted and measured.

    Predictions take the labels' own coefficients on the eigenvectors of the whole
    sample, and are for the images left out alone.

    Args:
        images: The sample.
        sizes: Numbers of training samples.
        draws: Draws of these.
        seed: Decides them.

    Returns:
        `measured` (draws, tasks, sizes) and `predicted` (tasks, sizes).
    """
    found, N = spectrum(images.K), len(images.K)
    predicted = []
    for y in images.Y.T:
        modes = theory.modes_of(found, y)
        curve = theory.learning_curve(
            modes.eigenvalues,
            modes.energies,
            sizes,
            ridge=_RIDGE,
            noise=modes.outside,
            unresolved=modes.unresolved,
        )
        seen = curve.train_error * np.array(sizes)
        left_out = (curve.test_error * N - seen) / (N - np.array(sizes))
        predicted.append(left_out)
    measured = []
    for draw in range(draws):
        order = np.random.default_rng([seed, draw]).permutation(N)
        measured.append([_regress(images, order, n) for n in sizes])
    return {
        "predicted": np.stack(predicted),
        "measured": np.moveaxis(np.array(measured), 1, 2),
    }


def _regress(images: Images, order: np.ndarray, n: int) -> Float[np.ndarray, " t"]:
    train_rows, test = order[:n], order[n:]
    H = images.K[np.ix_(train_rows, train_rows)]
    fitted = predict.ridge(H, images.Y[train_rows], _RIDGE)
    outputs = predict.evaluate(fitted, images.K[np.ix_(test, train_rows)])
    return ((outputs - images.Y[test]) ** 2).mean(axis=0)
