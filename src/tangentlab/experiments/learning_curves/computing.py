r"""Test error from the spectrum of a kernel and the coefficients of a target alone.

The eigenlearning equations predict the mean squared error of kernel regression for any
number of samples, before any sample is drawn. Here beside measured errors: on the
sphere, where the spectrum is known; on images labeled by signs of eigenfunctions, with
the labels' own coefficients; and beside finite networks on the same tasks. Then test
error against width, through the interpolation threshold.

Reference:
    Simon, Dickens, Karkada and DeWeese, "The eigenlearning framework", TMLR 2023;
    Bordelon, Canatar and Pehlevan, "Spectrum dependent learning curves in kernel
    regression and wide neural networks", ICML 2020; Belkin, Hsu, Ma and Mandal,
    "Reconciling modern machine-learning practice and the classical bias-variance
    trade-off", PNAS 2019.
"""

import dataclasses
from pathlib import Path

import numpy as np

from ..._progress import progress_bar
from ...store import RunFolder
from .images import image_curves, load_images
from .networks import network_errors
from .sphere import sphere_curves
from .widths import width_curve


@dataclasses.dataclass(frozen=True)
class LearningCurves:
    """Predict learning curves, measure them, and look at test error against width."""

    dim: int = 12
    """Dimension around the sphere."""
    degrees: tuple[int, ...] = (1, 2, 4)
    """Degrees of the targets there."""
    sphere_sizes: tuple[int, ...] = (10, 20, 40, 80, 160, 320, 640)
    """Numbers of training samples on the sphere."""
    data: str = "digits"
    """Data set of ten classes."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    num_images: int = 1000
    """How many of its images."""
    modes: tuple[int, ...] = (1, 5, 20)
    """Eigenfunctions whose signs are learned, from 0."""
    image_sizes: tuple[int, ...] = (15, 30, 60, 120, 240)
    """Numbers of training images."""
    network_width: int = 256
    """Hidden units of finite networks on the same tasks; 0 for none."""
    network_steps: int = 400
    """Steps of gradient descent they take."""
    network_seeds: int = 3
    """Their initializations."""
    num_train: int = 100
    """Training images for errors against width."""
    widths: tuple[int, ...] = (
        10,
        20,
        40,
        60,
        80,
        90,
        100,
        110,
        125,
        160,
        250,
        600,
        2000,
    )
    """Hidden units there."""
    draws: int = 5
    """Draws of samples."""
    seed: int = 0
    """Decides them."""


def run(config: LearningCurves, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; parts that are there are not computed again.
        progress: Show a progress bar.
    """
    _check(config)
    parts = {"sphere": _sphere, "images": _images, "widths": _widths}
    with progress_bar("Learning curves", len(parts), show=progress) as advance:
        for name, compute in parts.items():
            if not folder.has_arrays(name):
                folder.save_arrays(name, **compute(config))
            advance(1)
    for name in ("sphere", "images"):
        saved = folder.arrays(name)
        folder.log(
            part=name,
            predicted=saved["predicted"],
            measured=saved["measured"].mean(axis=0),
        )


def _sphere(config: LearningCurves) -> dict[str, np.ndarray]:
    return sphere_curves(
        config.dim, config.degrees, config.sphere_sizes, config.draws, config.seed
    )


def _images(config: LearningCurves) -> dict[str, np.ndarray]:
    images = load_images(config.data, config.directory, config.num_images, config.modes)
    sizes = config.image_sizes
    curves = image_curves(images, sizes, config.draws, config.seed)
    if config.network_width:
        curves["network"] = network_errors(
            images,
            sizes,
            width=config.network_width,
            steps=config.network_steps,
            seeds=config.network_seeds,
            seed=config.seed,
        )
    return {**curves, "names": np.array(images.names)}


def _widths(config: LearningCurves) -> dict[str, np.ndarray]:
    images = load_images(config.data, config.directory, config.num_images, ())
    halves = images.Y[:, -1]
    errors = width_curve(
        images.x, halves, config.num_train, config.widths, config.draws, config.seed
    )
    return {"errors": errors}


def _check(config: LearningCurves) -> None:
    for name in ("degrees", "sphere_sizes", "image_sizes", "widths"):
        values = getattr(config, name)
        if not values or min(values) < 1 or list(values) != sorted(set(values)):
            raise ValueError(f"{name} must be rising numbers from 1 on, got {values}.")
    if config.dim < 3 or config.draws < 1 or max(config.degrees) > 8:
        raise ValueError(
            f"dim must be at least 3, draws at least 1 and degrees at most 8, got "
            f"{config.dim}, {config.draws} and {config.degrees}."
        )
    if config.network_width and min(config.network_steps, config.network_seeds) < 1:
        raise ValueError(
            "network_steps and network_seeds must be at least 1, got "
            f"{config.network_steps} and {config.network_seeds}: for no network pass "
            "network_width = 0."
        )
    most = max(*config.image_sizes, config.num_train)
    if config.num_images < 2 * most:
        raise ValueError(
            f"num_images must be at least twice as many as are trained on, {2 * most}, "
            f"got {config.num_images}: the sample stands for the distribution."
        )
