"""One initialization of a network, and where its results go."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._types import Params, PRNGKey
from ...data import Dataset
from ...models import Model
from ...store import RunFolder

OWN = "own"
"""Labels of the network's own kernel."""


@dataclass(frozen=True)
class Seed:
    """Everything that the stages of one initialization share.

    Results of several seeds lie in one folder, each with the seed in its name.

    Attributes:
        number: The seed.
        model: The network.
        params: Its parameters at this initialization.
        dataset: The samples, train then test.
        key: Decides the order of samples in training.
        folder: Where results go.
        progress: Show progress bars.
        several: There are other seeds, so that titles of bars name this one.
        cluster: Whose workers compute what takes long; None for this process.
        source: Whose kernel labels its tasks, in a few words.
    """

    number: int
    model: Model
    params: Params
    dataset: Dataset
    key: PRNGKey
    folder: RunFolder
    progress: bool = False
    several: bool = False
    cluster: Any = None
    source: str = OWN

    def has(self, name: str) -> bool:
        """Whether results are there, perhaps from before an interruption.

        Args:
            name: Of the results.

        Returns:
            True if they are.
        """
        return self.folder.has_arrays(self._named(name))

    def save(self, name: str, /, **arrays: Any) -> None:
        """Write results.

        Args:
            name: Of the results.
            **arrays: The arrays by name.
        """
        self.folder.save_arrays(self._named(name), **arrays)

    def load(self, name: str) -> dict[str, np.ndarray]:
        """Read results.

        Args:
            name: Of the results.

        Returns:
            The arrays by name.
        """
        return self.folder.arrays(self._named(name))

    def work(self, name: str) -> Path:
        """A folder for what is needed to go on after an interruption.

        Args:
            name: What for.

        Returns:
            Its path; it may not be there yet.
        """
        return self.folder.work / self._named(name)

    def title(self, what: str) -> str | bool:
        """The title of a progress bar.

        Args:
            what: What is being done.

        Returns:
            The title; False where no bars are shown.
        """
        if not self.progress:
            return False
        return f"{what}, seed {self.number}" if self.several else what

    def _named(self, name: str) -> str:
        return f"{name}-{self.number}"
