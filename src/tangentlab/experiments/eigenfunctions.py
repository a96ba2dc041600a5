r"""Accuracy against eigenfunction index, the network and its linearization.

Each task labels the same images by the sign of one eigenfunction of the network's own
tangent kernel at initialization. Network and linearization start from the same
parameters and see the same batches.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Section 3.2.
"""

import dataclasses
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from .. import data, models, tasks
from ..analysis import binarization_overlap
from ..data import Dataset
from ..kernels import gram
from ..models import Activation, ModelName
from ..report.figures import Gallery
from ..spectra import Spectrum, spectrum
from ..store import RunFolder
from ..training import History, Recipe, train

GRID = (0, 1, 2, 4, 9, 19, 49, 99, 199, 499, 999)
"""Default indices, those below half the number of samples; the paper's are unknown."""


@dataclasses.dataclass(frozen=True)
class Eigenfunctions:
    """Train a network and its linearization on eigenfunctions of its kernel."""

    data: str = "digits"
    """Data set: digits, cifar10, mnist, fashion_mnist, or a path to an .npz file."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    num_samples: int | None = None
    """Samples in all, train and test, stratified by class; all there are by default."""
    num_test: int | None = None
    """Test samples among them; the data set's own proportion by default. Give it to
    compare training sizes: it alone decides which test samples are taken."""
    model: ModelName = "mlp"
    """Network: mlp, lenet or resnet18, as in the paper."""
    activation: Activation = "relu"
    """Its activation."""
    indices: tuple[int, ...] | None = None
    """Eigenfunctions to learn, from 0 (the paper's phi_1); by default 0 1 2 4 9 19 49
    99 199 499 999, as far as these lie below half the number of samples."""
    seed: int = 42
    """Decides the initialization, the subset and the order of samples."""
    recipe: Recipe = Recipe()
    """How both models are trained."""


DEMO = Eigenfunctions(
    indices=(0, 1, 2, 3, 4, 6, 9, 14, 19, 29, 49, 69, 99, 149, 199, 299, 499)
)
"""What `tangentlab demo` runs: the embedded digits, half a minute on 2 cores."""


class _Keys(NamedTuple):
    """Sub-keys by name; `init` is the seed's key itself, as in the paper."""

    init: jax.Array
    subset: jax.Array
    batches: jax.Array


def run(config: Eigenfunctions, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write.
        progress: Show progress bars.
    """
    keys = _keys(config.seed)
    raw, dataset = load(config, keys.subset)
    indices = _indices(config, len(dataset.x))
    config.recipe.steps_per_epoch(dataset.num_train)  # refuses before the long work
    model = models.build(config.model, dataset.shape, activation=config.activation)
    params = model.init(keys.init)
    K = gram(model.apply, params, dataset.x, progress=progress)
    decomposition = spectrum(K)
    made = [tasks.eigenfunction(decomposition, i, dataset) for i in indices]
    _write_tasks(folder, raw, decomposition, made)
    linear = models.linearize(model.apply, params)
    histories = {
        name: train(
            network, params, made, config.recipe, key=keys.batches, progress=title
        )
        for name, network, title in (
            ("network", model, progress and "Training the network"),
            ("linearized", linear, progress and "Training the linearization"),
        )
    }
    _write_histories(folder, histories)
    _log(folder, model, dataset, decomposition, made, histories)


def load(config: Eigenfunctions, key: jax.Array) -> tuple[Dataset, Dataset]:
    """Load, normalize by the whole training split, take the subset asked for.

    Args:
        config: Data set and sizes.
        key: Decides the subset.

    Returns:
        The same samples, train then test, as they are and normalized.

    Raises:
        ValueError: If more samples are asked for than there are.
    """
    whole = data.load(config.data, directory=config.directory)
    n = len(whole.x)
    total = n if config.num_samples is None else config.num_samples
    if not 2 <= total <= n:
        raise ValueError(f"num_samples must lie in 2..{n} for {whole.name}: {total}.")
    share = max(1, round(total * whole.num_test / n))
    num_test = share if config.num_test is None else config.num_test
    if not 0 < num_test < total:
        raise ValueError(f"num_test must lie in 1..{total - 1}, got {num_test}.")
    raw, dataset = (
        data.subset(each, total - num_test, num_test=num_test, key=key)
        for each in (whole, data.normalize(whole))
    )
    return raw, dataset


def _keys(seed: int) -> _Keys:
    key = jax.random.key(seed)
    return _Keys(key, *jax.random.split(key))


def _indices(config: Eigenfunctions, n: int) -> tuple[int, ...]:
    if config.indices is None:
        return tuple(i for i in GRID if 2 * i < n)
    outside = [i for i in config.indices if not 0 <= i < n]
    if outside or not config.indices or len(set(config.indices)) < len(config.indices):
        raise ValueError(
            f"indices must be different numbers in 0..{n - 1} (there are {n} samples), "
            f"got {config.indices}."
        )
    return tuple(sorted(config.indices))


def _write_tasks(
    folder: RunFolder, raw: Dataset, decomposition: Spectrum, made: list[tasks.Task]
) -> None:
    index = np.array([task.index for task in made])
    V = np.asarray(decomposition.eigenvectors)[:, index]
    folder.save_arrays(
        "spectrum",
        eigenvalues=decomposition.eigenvalues,
        residuals=decomposition.residuals,
        resolution=np.array(decomposition.resolution),
        eigenvectors=V,
    )
    folder.save_arrays(
        "tasks",
        index=index,
        balance=np.array([task.balance for task in made]),
        chance=np.array([task.test_chance for task in made]),
        degenerate=np.array([task.degenerate for task in made]),
        unresolved=np.array([task.unresolved for task in made]),
        overlap=binarization_overlap(V),
    )
    pictures = _gallery(raw, index, V)
    if pictures is not None:
        folder.save_arrays("gallery", **vars(pictures))


def _write_histories(folder: RunFolder, histories: dict[str, History]) -> None:
    fields = ("train_loss", "train_accuracy", "test_loss", "test_accuracy")
    for name, history in histories.items():
        saved = (*fields, "distance", "diverged")
        arrays = {field: np.asarray(getattr(history, field)) for field in saved}
        folder.save_arrays(name, **arrays)


def _log(folder, model, dataset, decomposition, made, histories) -> None:
    folder.log(
        data=dataset.name,
        model=model.name,
        num_train=dataset.num_train,
        num_test=dataset.num_test,
        num_negative_eigenvalues=decomposition.num_negative,
        num_eigenvalues_below_resolution=decomposition.num_below_resolution,
    )
    for row, task in enumerate(made):
        values = {
            f"{name}_{field}": getattr(history, field)[row, -1]
            for name, history in histories.items()
            for field in ("train_loss", "test_loss", "test_accuracy")
        }
        folder.log(
            index=task.index,
            eigenvalue=decomposition.eigenvalues[task.index],
            balance=task.balance,
            **values,
        )


def _gallery(dataset: Dataset, index: np.ndarray, V: np.ndarray) -> Gallery | None:
    """Extreme images of a few eigenfunctions, for data that are images."""
    if len(dataset.shape) != 3 or dataset.shape[-1] not in (1, 3):
        return None
    shown = np.linspace(0, len(index) - 1, min(6, len(index))).round().astype(int)
    order = np.argsort(V[:, shown], axis=0)
    num = min(5, len(V) // 2)
    x = np.asarray(dataset.x)
    return Gallery(index[shown], x[order[:num].T], x[order[::-1][:num].T])
