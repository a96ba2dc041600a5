r"""Exact statements of the paper, checked on real networks in float64.

D15, Lemma 1: $\|f\|_\Theta^2 \ge \|f\|_2^4 / \alpha(f)$, the norm by eigenpairs and the
bound by gradients. D16: $\alpha(f) = \|E[f \nabla_\theta f_{\theta_0}]\|^2$, by
averaged gradients and by the Gram matrix. D17, Theorem 1: $\alpha(g_u) =
\|E[\nabla^2_{x,\theta} f_{\theta_0}]\, u\|^2$, both sides by Monte Carlo. D22: batch
statistics are frozen in the linearization of ResNet18. D23: 180,033 of its parameters
are active.

>>> from pathlib import Path
>>> from tangentlab.experiments import EXPERIMENTS, perform
>>> config = Identities(data="cifar10", model="lenet", seeds=5)
>>> outcome = perform(  # doctest: +SKIP
...     EXPERIMENTS, "identities", config, Path("runs"), resume=True
... )

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, supplement.
"""

import dataclasses

import jax
import numpy as np

from ...data import Dataset
from ...models import Activation
from ...store import RunFolder
from ..stages.opening import make_keys, open_samples, open_seeds
from ..stages.setting import Setting
from .activity import count_active
from .batch_norm import check_frozen
from .lemma import check_lemma
from .theorem import check_theorem

_SMALLEST = 16  # pixels, of images for ResNet18


@dataclasses.dataclass(frozen=True)
class Identities(Setting):
    """Check the paper's lemma, theorem and facts about ResNet18 to rounding."""

    num_samples: int | None = 200
    """Samples of the Gram matrix, stratified by class."""
    activation: Activation = "gelu"
    """Activation of the network of Lemma 1 and Theorem 1, which needs a smooth one."""
    num_modes: int = 20
    """Leading eigenvectors on which the inequality is an equality."""
    num_draws: int = 32_768
    """Gaussian samples for both sides of Theorem 1, whose standard errors must be at
    most 2 %."""
    resnet_width: int = 64
    """Channels of the first stage of the ResNet18 whose linearization is looked at; 64
    as published."""
    image_size: int = 32
    """Height and width of the images on which active parameters of the published
    ResNet18 are counted, at least 16: the data's where they have this shape and 3
    channels, Gaussian ones else."""
    num_images: int = 64
    """How many of these; a parameter is active if it has a gradient on one of them."""


def run(config: Identities, folder: RunFolder, *, progress: bool) -> None:
    """Check everything for each seed and write what was found.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    samples = open_samples(config).dataset
    images = _images(config, samples)
    for seed in open_seeds(config, samples, folder, progress=progress):
        key = make_keys(seed.number).subset
        check_lemma(seed, config.num_modes, key=key)
        check_theorem(seed, config.num_draws, key=key)
        check_frozen(seed, config.resnet_width)
        count_active(seed, images)
    _log(folder, config, samples)


def _check(config: Identities) -> None:
    for name in ("num_modes", "resnet_width", "num_images"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(config, name)}.")
    if config.image_size < _SMALLEST:
        raise ValueError(
            f"image_size must be at least {_SMALLEST}, since on smaller images the "
            f"last stage sees nothing but the corner, got {config.image_size}."
        )
    if config.num_samples is not None and config.num_modes > config.num_samples:
        raise ValueError(
            f"There are {config.num_samples} eigenvectors of as many samples, got "
            f"num_modes = {config.num_modes}: take fewer."
        )


def _images(config: Identities, samples: Dataset) -> np.ndarray:
    shape = (config.image_size, config.image_size, 3)
    if samples.shape == shape and len(samples.x) >= config.num_images:
        return np.asarray(samples.x[: config.num_images])
    key = jax.random.fold_in(make_keys(config.seed).subset, 1)
    drawn = jax.random.normal(key, (config.num_images, *shape), np.float32)
    return np.asarray(drawn)


def _log(folder: RunFolder, config: Identities, samples: Dataset) -> None:
    seeds = list(range(config.seed, config.seed + config.seeds))
    folder.log(
        data=samples.name,
        model=config.model,
        num_samples=len(samples.x),
        num_draws=config.num_draws,
        num_images=config.num_images,
        resnet_width=config.resnet_width,
        seeds=seeds,
    )
    for seed in seeds:
        theorem = folder.arrays(f"theorem-{seed}")
        frozen = folder.arrays(f"frozen-{seed}")
        folder.log(
            seed=seed,
            alignment=theorem["alignment"],
            derivative=theorem["derivative"],
            second_difference=frozen["linearized"],
            active=folder.arrays(f"active-{seed}")["gelu"].sum(),
            active_with_relu=folder.arrays(f"active-{seed}")["relu"].sum(),
        )
