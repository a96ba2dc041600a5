r"""Network and linearization on training sets of several sizes.

Each seed draws an initialization and a pool of training samples. The Gram matrix of
pool and test samples is computed once: its eigenfunctions label all of them, and its
blocks train the linearization at every size. Smaller training sets lie in larger ones,
and the test samples are the same everywhere. Epochs are the same at every size, so that
small sets are trained for fewer steps, as in the paper.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770.
"""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import data, models, tasks
from ..._types import PRNGKey
from ...data import Dataset
from ...kernels.request import Precision
from ...models import Activation, Model, ModelName
from ...store import RunFolder
from ...training import Recipe
from ..stages.kernel import compute_gram, keeps_gram, make_tasks, num_pairs, saved_tasks
from ..stages.opening import make_keys
from ..stages.seeds import Seed
from ..stages.training import Job, is_dual, learn_dual, learn_network

GRID = (500, 1_000, 2_000, 5_000, 12_000, 25_000, 50_000)
"""Default sizes, as far as there are that many training samples; the paper's are not
known."""
CIFAR2, EIGENFUNCTIONS, ALL, LONG = "cifar2", "eigenfunctions", "tasks", "long"


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Train a network and its linearization on training sets of several sizes."""

    data: str = "digits"
    """Data set of ten classes: digits, cifar10, mnist, fashion_mnist, or a path to an
    .npz file."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    sizes: tuple[int, ...] | None = None
    """Training samples, stratified by class; by default 500 1000 2000 5000 12000 25000
    50000, as far as there are that many."""
    num_test: int | None = None
    """Test samples, the same for all sizes and seeds; all there are by default."""
    model: ModelName = "mlp"
    """Network: mlp, lenet or resnet18, as in the paper."""
    activation: Activation = "relu"
    """Its activation."""
    last_scale: float = 0.0
    """Initial scale of the last batch norm in each block of a resnet18: 0 as in the
    paper's code; with 1 all parameters carry the kernel."""
    indices: tuple[int, ...] = (9, 99)
    """Eigenfunctions to learn beside CIFAR2, from 0, of the kernel on all samples of
    the largest size."""
    seed: int = 42
    """Decides the initialization, the training samples and their order."""
    seeds: int = 1
    """Number of draws, each of an initialization and of training samples: seed, seed +
    1, ... Five are needed for intervals."""
    recipe: Recipe = Recipe()
    """How both models are trained, by sgd."""
    cifar2_epochs: int = 200
    """Epochs for the first five of ten classes against the other five (CIFAR2); the
    paper takes 200."""
    long_epochs: int = 1000
    """Epochs of one more run of the linearization on CIFAR2, at the largest size: does
    it only lack time? 0 for none."""
    precision: Precision = "float32"
    """Of the Gram matrix: float32, float64, or on a GPU high and fast."""
    gram_on_disk: bool | None = None
    """Keep the Gram matrix on disk while the run lasts, from where a resumed run reads
    it; by default on a CPU."""


def run(
    config: Sizes, folder: RunFolder, *, progress: bool, cluster: Any = None
) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
        cluster: Whose workers compute Gram matrices and share tasks.
    """
    whole = data.normalize(data.load(config.data, directory=config.directory))
    sizes = _sizes(config, whole)
    model = models.build(
        config.model,
        whole.shape,
        activation=config.activation,
        last_scale=config.last_scale,
    )
    numbers = list(range(config.seed, config.seed + config.seeds))
    for number in numbers:
        pool_key, _ = _draw_keys(number)
        pool = data.subset(whole, sizes[-1], num_test=config.num_test, key=pool_key)
        seed = _seed(config, number, model, pool, folder, progress=progress)
        _compute(config, sizes, dataclasses.replace(seed, cluster=cluster))
    _log(config, folder, whole.name, sizes, numbers)


def jobs_of(config: Sizes, part: Seed, size: int, made: list[tasks.Task]) -> list[Job]:
    """What both models learn at one size.

    Args:
        config: Recipe and epochs.
        part: The samples of that size.
        size: How many train.
        made: Eigenfunction tasks on these samples.

    Returns:
        The jobs.
    """
    longer = dataclasses.replace(config.recipe, epochs=config.cifar2_epochs)
    halves = tasks.cifar2(part.dataset)
    learned = {
        ALL: ([halves, *made], longer),
        CIFAR2: ([halves], longer),
        EIGENFUNCTIONS: (made, config.recipe),
    }
    return [Job(f"{kind}-{size}", *learned[kind]) for kind in kinds_of(config)]


def kinds_of(config: Sizes) -> tuple[str, ...]:
    """Which tasks are learned together.

    Args:
        config: Epochs and indices.

    Returns:
        Names of the jobs, in which CIFAR2 comes first: one where all tasks take as many
        epochs.
    """
    if not config.indices:
        return (CIFAR2,)
    if config.cifar2_epochs == config.recipe.epochs:
        return (ALL,)
    return CIFAR2, EIGENFUNCTIONS


def _compute(config: Sizes, sizes: tuple[int, ...], seed: Seed) -> None:
    """Everything of one seed; the Gram matrix is gone when networks are trained."""
    _compute_linearized(config, sizes, seed)
    for size in sizes:
        part, rows = _part(seed, size)
        for job in jobs_of(config, part, size, _on(part, rows, _tasks(config, seed))):
            learn_network(part, job)


def _compute_linearized(config: Sizes, sizes: tuple[int, ...], seed: Seed) -> None:
    if seed.has("finished"):
        return
    K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk)
    if config.indices and not seed.has("tasks"):
        n, indices = len(seed.dataset.x), tuple(sorted(config.indices))
        num = num_pairs(n, max(indices))
        make_tasks(seed, K, indices, num, config.precision)
    kept = keeps_gram(config.gram_on_disk, seed.cluster)
    for size in sizes:
        part, rows = _part(seed, size)
        jobs = jobs_of(config, part, size, _on(part, rows, _tasks(config, seed)))
        if config.long_epochs and size == sizes[-1]:
            recipe = dataclasses.replace(config.recipe, epochs=config.long_epochs)
            jobs.append(Job(LONG, [tasks.cifar2(part.dataset)], recipe))
        block = _block(K, rows)
        for job in jobs:
            learn_dual(part, job, block, resumable=kept)
    seed.save("finished", sizes=np.array(sizes))


def _part(seed: Seed, size: int) -> tuple[Seed, np.ndarray]:
    """A stratified part of the pool with all test samples, and where they are."""
    pool = seed.dataset
    numbered = dataclasses.replace(pool, x=np.arange(len(pool.x), dtype=np.float64))
    _, part_key = _draw_keys(seed.number)
    rows = np.asarray(data.subset(numbered, size, key=part_key).x).astype(np.intp)
    part = dataclasses.replace(
        pool, x=np.asarray(pool.x)[rows], y=np.asarray(pool.y)[rows], num_train=size
    )
    return dataclasses.replace(seed, dataset=part), rows


def _block(K: Any, rows: np.ndarray) -> Any:
    """The part of a Gram matrix that belongs to some samples, beside the matrix."""
    if len(rows) == K.shape[0]:
        return K
    if isinstance(K, jax.Array):
        return jnp.take(jnp.take(K, rows, axis=0), rows, axis=1)
    return np.asarray(K[np.ix_(rows, rows)])


def _tasks(config: Sizes, seed: Seed) -> list[tasks.Task]:
    return saved_tasks(seed) if config.indices else []


def _on(part: Seed, rows: np.ndarray, made: list[tasks.Task]) -> list[tasks.Task]:
    x, m = part.dataset.x, part.dataset.num_train
    return [
        dataclasses.replace(task, x=x, y=np.asarray(task.y)[rows], num_train=m)
        for task in made
    ]


def _sizes(config: Sizes, whole: Dataset) -> tuple[int, ...]:
    """Refuse what cannot be done before the long work."""
    _check(config)
    tasks.cifar2(whole)
    most = whole.num_train
    asked = [n for n in GRID if n <= most] if config.sizes is None else config.sizes
    sizes = tuple(sorted(asked))
    if not sizes or len(set(sizes)) < len(sizes) or sizes[-1] > most:
        raise ValueError(
            f"sizes must be different numbers up to {most}, the training samples of "
            f"{whole.name}, got {config.sizes}."
        )
    config.recipe.steps_per_epoch(sizes[0])
    num_test = whole.num_test if config.num_test is None else config.num_test
    if not 0 < num_test <= whole.num_test:
        raise ValueError(f"num_test must lie in 1..{whole.num_test}, got {num_test}.")
    n = sizes[-1] + num_test
    if any(not 0 <= index < n for index in config.indices):
        raise ValueError(
            f"indices must lie in 0..{n - 1} (the largest size and the test samples "
            f"are {n}), got {config.indices}."
        )
    return sizes


def _check(config: Sizes) -> None:
    is_dual("function", config.recipe)  # refuses Adam
    least = {"seeds": 1, "cifar2_epochs": 1, "long_epochs": 0}
    for name, number in least.items():
        if getattr(config, name) < number:
            raise ValueError(
                f"{name} must be at least {number}, got {getattr(config, name)}."
            )


def _seed(
    config: Sizes,
    number: int,
    model: Model,
    pool: Dataset,
    folder: RunFolder,
    *,
    progress: bool,
) -> Seed:
    keys = make_keys(number)
    params = model.init(keys.init)
    several = config.seeds > 1
    return Seed(number, model, params, pool, keys.batches, folder, progress, several)


def _draw_keys(number: int) -> tuple[PRNGKey, PRNGKey]:
    """Keys of a seed's pool, and of the parts of it."""
    pool_key, part_key = jax.random.split(make_keys(number).subset)
    return pool_key, part_key


def _log(
    config: Sizes,
    folder: RunFolder,
    name: str,
    sizes: tuple[int, ...],
    seeds: list[int],
) -> None:
    indices = sorted(config.indices)
    folder.log(data=name, model=config.model, sizes=sizes, seeds=seeds, indices=indices)
    for seed in seeds:
        for size in sizes:
            for kind in kinds_of(config):
                ended = {
                    model: folder.arrays(f"{model}-{kind}-{size}-{seed}")
                    for model in ("network", "linearized")
                }
                folder.log(
                    seed=seed,
                    size=size,
                    task=kind,
                    **{
                        f"{m}_accuracy": e["test_accuracy"][:, -1]
                        for m, e in ended.items()
                    },
                    **{f"{m}_loss": e["train_loss"][:, -1] for m, e in ended.items()},
                )
