"""Where labels come from: whose kernel, on which samples."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import jax
import numpy as np
from jaxtyping import Bool

from ... import models
from ..._types import Params
from ...data import Dataset
from ...kernels import gram
from ...kernels.request import Precision
from ...models import Activation, Model, ModelName
from ...spectra import Spectrum
from ...tasks import Task, eigenfunction, extended_eigenfunction
from ..stages.kernel import num_pairs
from ..stages.opening import make_keys
from ..stages.seeds import Seed
from ..stages.shared_spectra import find_pairs, leading_pairs

Source = Literal["own", "seed", "architecture", "training"]
"""The network's own kernel; that of another initialization; that of another
architecture; its own on the training samples alone, extended to the test samples."""

SOURCES: tuple[Source, ...] = get_args(Source)

APART = 10_000
"""Added to a seed for the other initialization."""


class Other(NamedTuple):
    """A network that labels come from.

    Attributes:
        model: The network.
        params: Its initial parameters.
    """

    model: Model
    params: Params


class Labels(NamedTuple):
    """What a source makes of some indices.

    Attributes:
        y: Label 1 for each index and sample.
        missing: There is no such eigenfunction beyond rounding; its labels are all 0.
        unresolved: Its eigenvalue is not told apart from the next.
    """

    y: Bool[np.ndarray, "t n"]
    missing: Bool[np.ndarray, " t"]
    unresolved: Bool[np.ndarray, " t"]


def other_network(
    source: Source,
    seed: Seed,
    other: ModelName,
    activation: Activation,
    last_scale: float,
) -> Other:
    """The network behind a source that is not the seed's own.

    Args:
        source: `seed` or `architecture`.
        seed: The seed.
        other: The other architecture.
        activation: Of both.
        last_scale: Of the last batch norm in each block, where the other architecture
            is a resnet18.

    Returns:
        Network and parameters; the other architecture starts from the seed's number.
    """
    if source == "seed":
        key = make_keys(seed.number + APART).init
        return Other(seed.model, seed.model.init(key))
    scale = last_scale if other == "resnet18" else 0.0
    model = models.build(
        other, seed.dataset.shape, activation=activation, last_scale=scale
    )
    return Other(model, model.init(make_keys(seed.number).init))


def labels_of_other(
    network: Other, seed: Seed, indices: Sequence[int], precision: Precision
) -> Labels:
    """Signs of the eigenfunctions of another network's kernel.

    Args:
        network: The other network.
        seed: The samples.
        indices: Which.
        precision: Of its Gram matrix, which is gone afterwards.

    Returns:
        The labels.
    """
    K = gram(
        network.model.apply,
        network.params,
        seed.dataset.x,
        precision=precision,
        progress=seed.progress,
    )
    other = dataclasses.replace(seed, model=network.model, params=network.params)
    return labels_of(other, K, indices, precision)


def labels_of(
    seed: Seed, K: Any, indices: Sequence[int], precision: Precision
) -> Labels:
    """Signs of the eigenfunctions of a network's kernel on all samples.

    Args:
        seed: Network, parameters and samples.
        K: Their Gram matrix.
        indices: Which.
        precision: Of that matrix.

    Returns:
        The labels; below the resolution they are rounding, and missing.
    """
    num = num_pairs(K.shape[0], max(indices))
    found = find_pairs(seed, K, num, precision)
    made = [eigenfunction(found, index, seed.dataset) for index in indices]
    return _labels(made, _missing(found, indices))


def labels_extended(
    K: Any, dataset: Dataset, indices: Sequence[int], epsilon: float | None = None
) -> Labels:
    """Signs of the eigenfunctions of the training samples, extended to the others.

    Args:
        K: The Gram matrix of all samples.
        dataset: The samples.
        indices: Which.
        epsilon: Relative error of the matrix, as in `tl.spectrum`.

    Returns:
        The labels; what is below the resolution cannot be extended, and is missing.
    """
    m = dataset.num_train
    inside = _part(K, slice(0, m), slice(0, m))
    found = leading_pairs(inside, num_pairs(m, max(indices)), epsilon)
    missing = _missing(found, indices)
    beside = _part(K, slice(m, None), slice(0, m))
    made = [
        None if lost else extended_eigenfunction(found, index, dataset, beside)
        for index, lost in zip(indices, missing, strict=True)
    ]
    return _labels(made, missing, len(dataset.x))


def _labels(
    made: Sequence[Task | None], missing: np.ndarray, n: int | None = None
) -> Labels:
    known = [
        np.zeros(n or 0, bool) if task is None else np.asarray(task.y) > 0
        for task in made
    ]
    y = np.stack(known) & ~missing[:, None]
    unresolved = [task is not None and task.unresolved for task in made]
    return Labels(y, missing, np.array(unresolved))


def _missing(found: Spectrum, indices: Sequence[int]) -> np.ndarray:
    lam = np.asarray(found.eigenvalues)[list(indices)]
    return (lam < found.resolution) | (lam <= 0)


def _part(K: Any, rows: slice, columns: slice) -> Any:
    part = K[rows, columns]
    return part if isinstance(part, jax.Array) else np.asarray(part)
