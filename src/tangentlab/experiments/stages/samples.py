"""The samples of an experiment."""

from pathlib import Path
from typing import NamedTuple

from ... import data
from ..._types import PRNGKey
from ...data import Dataset


class Samples(NamedTuple):
    """The same samples twice, train then test.

    Attributes:
        raw: As they are.
        dataset: Normalized by the whole training split, as networks see them.
    """

    raw: Dataset
    dataset: Dataset


def load_samples(
    name: str,
    directory: Path | None,
    num_samples: int | None,
    num_test: int | None,
    *,
    key: PRNGKey,
) -> Samples:
    """Load a data set, normalize it, and take the part asked for.

    Args:
        name: The data set.
        directory: Where to look for it first.
        num_samples: Samples in all; all there are if not given.
        num_test: Test samples among them; the data set's own share if not given.
        key: Decides the subset.

    Returns:
        The samples.

    Raises:
        ValueError: If more samples are asked for than there are.
    """
    whole = data.load(name, directory=directory)
    n = len(whole.x)
    total = n if num_samples is None else num_samples
    if not 2 <= total <= n:
        raise ValueError(f"num_samples must lie in 2..{n} for {whole.name}: {total}.")
    share = max(1, round(total * whole.num_test / n))
    num_test = share if num_test is None else num_test
    if not 0 < num_test < total:
        raise ValueError(f"num_test must lie in 1..{total - 1}, got {num_test}.")
    samples = Samples(whole, data.normalize(whole))
    if total == n and num_test == whole.num_test:
        return samples
    return Samples(
        *(
            data.subset(each, total - num_test, num_test=num_test, key=key)
            for each in samples
        )
    )
