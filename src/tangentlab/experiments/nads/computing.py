r"""Neural anisotropy directions (NADs): found in the kernel, then learned along.

NADs are the directions of input space by decreasing alignment of the tangent kernel,
right singular vectors of $\nabla^2_{x,\theta} f$ at the origin, or of its mean over
samples. Along each one $\mathcal D(u)$ is linearly separable with the same margin; the
paper expects that networks and their linearizations learn it the worse, the later the
direction.

>>> from pathlib import Path
>>> from tangentlab.experiments import EXPERIMENTS, perform
>>> config = NadStudy(model="lenet", size=16, only_pictures=True)
>>> outcome = perform(  # doctest: +SKIP
...     EXPERIMENTS, "nads", config, Path("runs"), resume=True
... )

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Theorem 1.
"""

import dataclasses
from pathlib import Path

import jax
import numpy as np

from ... import data as datasets
from ... import models
from ..._types import PRNGKey
from ...data import Dataset
from ...kernels.request import Precision
from ...models import Activation, ModelName
from ...store import RunFolder
from ...tasks.directions import Margin
from ...training import Recipe
from ..stages.courses import MODELS, courses
from ..stages.indices import spread_indices
from ..stages.opening import make_keys
from ..stages.samples import load_samples
from ..stages.seeds import Seed
from ..stages.training import Space, is_dual
from .finding import find_directions
from .learning import Along, learn_along, task_along

GAUSSIAN = "gaussian"


@dataclasses.dataclass(frozen=True)
class NadStudy:
    """Find the directions of input space that a network sees best, and learn them."""

    data: str = GAUSSIAN
    """What the derivative is averaged over, beside its value at the origin: gaussian,
    as in Theorem 1, or a data set (digits, cifar10, mnist, an .npz file), which also
    gives the shape of the images."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    size: int = 32
    """Height and width of Gaussian images."""
    channels: int = 1
    """Channels of Gaussian images."""
    num_average: int = 256
    """Samples to average the derivative over."""
    model: ModelName = "lenet"
    """Network: mlp, lenet or resnet18; the paper shows the last two."""
    activation: Activation = "gelu"
    """Its activation. At the origin a ReLU network has no second derivative."""
    last_scale: float = 0.0
    """Initial scale of the last batch norm in each block of a resnet18: 0 as in the
    paper's code; with 1 all parameters carry the kernel."""
    only_pictures: bool = False
    """Find the directions, and learn nothing."""
    indices: tuple[int, ...] | None = None
    """Directions to learn, from 0."""
    num_indices: int = 16
    """This many where none are given, evenly spread on a log scale between the first
    direction and the last. Whether accuracy falls takes 16 to tell."""
    num_train: int = 10_000
    """Training samples along each direction."""
    num_test: int = 10_000
    """Test samples along each direction."""
    margin: Margin = "text"
    """Class means at plus and minus epsilon, as in the text of the paper, or at half of
    it, as in its code."""
    epsilon: float = 1.0
    """The margin."""
    noise: float = 1.0
    """Standard deviation of the noise in all other directions."""
    seed: int = 42
    """Decides the initialization, the samples and their order."""
    seeds: int = 1
    """Number of initializations: seed, seed + 1, ... Five (three for resnet18) are
    needed for intervals over initializations."""
    recipe: Recipe = Recipe()
    """How both models are trained."""
    linearized_in: Space = "auto"
    """Train the linearization in function space, from the Gram matrix of each direction
    in turn, or in the space of weights; by default the former, and the latter for
    adam."""
    precision: Precision = "float32"
    """Of these Gram matrices: float32, float64, or on a GPU high and fast."""


def run(config: NadStudy, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    samples = load(config)
    indices = choose_directions(config, samples.shape)
    _check(_along(config, indices, make_keys(config.seed).subset))
    model = models.build(
        config.model,
        samples.shape,
        activation=config.activation,
        last_scale=config.last_scale,
    )
    seeds = range(config.seed, config.seed + config.seeds)
    for number in seeds:
        keys = make_keys(number)
        seed = Seed(
            number,
            model,
            model.init(keys.init),
            samples,
            keys.batches,
            folder,
            progress,
            several=config.seeds > 1,
        )
        find_directions(seed)
        if not config.only_pictures:
            learn_along(seed, _along(config, indices, keys.subset))
    _log(folder, config, samples, list(seeds))


def load(config: NadStudy) -> Dataset:
    """The samples that the derivative is averaged over.

    Args:
        config: Data set, or shape of Gaussian images.

    Returns:
        The samples, the same for all seeds.

    Raises:
        ValueError: If a number that must be positive is not.
    """
    for name in ("size", "channels", "num_average", "seeds"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(config, name)}.")
    key = make_keys(config.seed).subset
    if config.data == GAUSSIAN:
        shape = (config.size, config.size, config.channels)
        return datasets.gaussian(key, config.num_average, 0, shape=shape)
    num = config.num_average + 1  # a split needs a test sample
    found = load_samples(config.data, config.directory, num, 1, key=key).dataset
    return dataclasses.replace(found, x=found.x[:-1], y=found.y[:-1])


def choose_directions(config: NadStudy, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Indices of the directions to learn.

    Args:
        config: Which, or how many.
        shape: Of a sample.

    Returns:
        The indices, ascending.

    Raises:
        ValueError: If an index is not there, or there twice.
    """
    d = int(np.prod(shape))
    if config.indices is None:
        return spread_indices(config.num_indices, d - 1)
    given = set(config.indices)
    if not given or len(given) < len(config.indices) or not given <= {*range(d)}:
        raise ValueError(
            f"indices must be different numbers in 0..{d - 1} (images have {d} "
            f"pixels), got {config.indices}."
        )
    return tuple(sorted(given))


def _along(config: NadStudy, indices: tuple[int, ...], key: PRNGKey) -> Along:
    return Along(
        indices=indices,
        num_train=config.num_train,
        num_test=config.num_test,
        margin=config.margin,
        epsilon=config.epsilon,
        noise=config.noise,
        recipe=config.recipe,
        dual=is_dual(config.linearized_in, config.recipe),
        precision=config.precision,
        key=jax.random.fold_in(key, 1),
    )


def _check(along: Along) -> None:
    """Refuse what cannot be learned before the long work, on images of two pixels."""
    task_along(np.ones(2), 0, along)
    along.recipe.steps_per_epoch(along.num_train)


def _log(
    folder: RunFolder, config: NadStudy, samples: Dataset, seeds: list[int]
) -> None:
    folder.log(
        data=samples.name,
        model=config.model,
        shape=list(samples.shape),
        num_average=len(samples.x),
        num_test=config.num_test,
        seeds=seeds,
        learned=not config.only_pictures,
    )
    for seed in seeds:
        found = folder.arrays(f"nads-{seed}")
        folder.log(
            seed=seed,
            overlap=found["overlap"],
            num_resolved=found["num_resolved"],
            leading_energy=found["energies"][0],
        )
        if config.only_pictures:
            continue
        network, linearized = (folder.arrays(f"{name}-{seed}") for name in MODELS)
        went = courses(folder, seed)
        for row, index in enumerate(folder.arrays(f"along-{seed}")["index"]):
            folder.log(
                seed=seed,
                index=index,
                energy=found["energies"][index],
                network_test_accuracy=network["test_accuracy"][row, -1],
                linearized_test_accuracy=linearized["test_accuracy"][row, -1],
                **went[row],
            )
