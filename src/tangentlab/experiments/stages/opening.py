"""What experiments begin with: keys, samples, and a network for each seed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax

from ... import models
from ..._types import PRNGKey
from ...data import Dataset
from ...store import RunFolder
from .samples import Samples, load_samples
from .seeds import Seed
from .setting import Setting


class Keys(NamedTuple):
    """Sub-keys by name.

    Attributes:
        init: Draws the parameters: the seed's key itself, as in the paper.
        subset: Draws the samples.
        batches: Decides the order of samples in training.
    """

    init: PRNGKey
    subset: PRNGKey
    batches: PRNGKey


def make_keys(seed: int) -> Keys:
    """The keys of a seed.

    Args:
        seed: The seed.

    Returns:
        Its keys.
    """
    key = jax.random.key(seed)
    return Keys(key, *jax.random.split(key))


def open_samples(config: Setting) -> Samples:
    """The samples of a run, the same for all of its seeds.

    Args:
        config: Data set, sizes and first seed.

    Returns:
        The samples.

    Raises:
        ValueError: If there are not enough samples, or no seeds.
    """
    if config.seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {config.seeds}.")
    return load_samples(
        config.data,
        config.directory,
        config.num_samples,
        config.num_test,
        key=make_keys(config.seed).subset,
    )


def open_seeds(
    config: Setting,
    dataset: Dataset,
    folder: RunFolder,
    *,
    progress: bool,
    cluster: Any = None,
) -> Iterator[Seed]:
    """The initializations of a run, one after the other.

    Args:
        config: Network and seeds.
        dataset: The samples.
        folder: Where results go.
        progress: Show progress bars.
        cluster: Whose workers compute what takes long.

    Yields:
        The seeds.
    """
    model = models.build(
        config.model,
        dataset.shape,
        activation=config.activation,
        last_scale=config.last_scale,
    )
    for number in range(config.seed, config.seed + config.seeds):
        keys = make_keys(number)
        yield Seed(
            number,
            model,
            model.init(keys.init),
            dataset,
            keys.batches,
            folder,
            progress,
            several=config.seeds > 1,
            cluster=cluster,
        )
