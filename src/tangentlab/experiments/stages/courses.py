"""How trainings went, in the few numbers that a log keeps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...store import RunFolder

MODELS = ("network", "linearized")
_CURVES = ("train_loss", "test_accuracy")
_STEPS = (1, 2, 5)  # and ten times, a hundred times as many


def some_epochs(count: int) -> list[int]:
    """Numbers of epochs at which curves are read, about evenly spread on a log scale.

    Args:
        count: The number of all.

    Returns:
        1, 2, 5, 10, 20, ... and the last.

    Example:
        >>> some_epochs(30)
        [1, 2, 5, 10, 20, 30]
    """
    powers = range(len(str(count)))
    spread = [step * 10**power for power in powers for step in _STEPS]
    return [epoch for epoch in spread if epoch < count] + [count]


def courses(folder: RunFolder, seed: int, job: str = "") -> list[dict[str, Any]]:
    """What both models' curves were after some epochs, a row of numbers for each task.

    Args:
        folder: Where both are saved.
        seed: Of which seed.
        job: Which of its trainings; the main one by default.

    Returns:
        For each task the epochs, then loss on training and accuracy on test samples.
    """
    between = f"-{job}-" if job else "-"
    saved = {name: folder.arrays(f"{name}{between}{seed}") for name in MODELS}
    return [_course(saved, row) for row in range(len(saved["network"]["train_loss"]))]


def _course(saved: Mapping[str, Mapping[str, np.ndarray]], row: int) -> dict[str, Any]:
    epochs = some_epochs(saved["network"]["train_loss"].shape[1])
    at = np.array(epochs) - 1
    values = {
        f"{name}_{curve}_after": saved[name][curve][row, at].tolist()
        for name in saved
        for curve in _CURVES
    }
    return {"epochs": epochs, **values}
