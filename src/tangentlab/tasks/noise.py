"""Labels of which a part is wrong or random."""

import dataclasses
from typing import Literal, get_args

import jax
import numpy as np

from .._checks import check_known
from .._keys import AnyKey, as_key
from .randomness import draw, sample_keys
from .record import Task

Noise = Literal["redraw", "flip"]
"""What happens to a chosen label: drawn anew from both classes, or turned around."""

Split = Literal["train", "both"]
"""Which labels may be chosen."""


def with_label_noise(
    task: Task,
    fraction: float,
    *,
    key: AnyKey,
    how: Noise = "redraw",
    split: Split = "train",
) -> Task:
    r"""Corrupt labels, each with probability `fraction`, independently.

    `"redraw"` replaces a chosen label by a fair coin, as Zhang et al. do: half of the
    chosen ones stay right, so the expected share of wrong labels is `fraction / 2`,
    and the balance moves from $b$ to $(1 - p) b + p / 2$. At 1.0 the labels are random.
    `"flip"` turns each chosen label around: the share of wrong labels is `fraction`,
    labels are random at 0.5 and all wrong at 1.0.

    With one key, what is chosen for one fraction is also chosen, and redrawn to the
    same labels, for every larger one; the choice is the same in both ways.

    Args:
        task: A binary task.
        fraction: Probability, from 0 (the same labels) to 1.
        key: Chooses labels and draws new ones.
        how: `"redraw"` or `"flip"`.
        split: `"train"` leaves the test split as it is; `"both"` corrupts it likewise.

    Returns:
        The task with new labels and the same samples.

    Raises:
        ValueError: If the task is not binary, `fraction` no probability, `key` no
            random key, or `how` or `split` unknown.

    Reference:
        Zhang, Bengio, Hardt, Recht and Vinyals, "Understanding deep learning requires
        rethinking generalization", ICLR 2017, arXiv:1611.03530, Section 2.1.
    """
    key = as_key(key)
    check_known("kind of label noise", how, get_args(Noise))
    check_known("split for label noise", split, get_args(Split))
    if not 0 <= fraction <= 1:
        raise ValueError(f"`fraction` must lie in 0..1, got {fraction}.")
    if task.kind != "binary":
        raise ValueError(
            f"{task.name}: label noise is for binary labels, this is a {task.kind} "
            "task. Make the task binary, or add noise to its `y` yourself."
        )
    y = np.asarray(task.y)
    keys = sample_keys(key, task.num_train, len(y) - task.num_train)
    pairs = draw(jax.random.uniform, keys, (2,))
    chosen = pairs[:, 0].astype(np.float64) < fraction
    if split == "train":
        chosen[task.num_train :] = False
    new = 1 - y if how == "flip" else (pairs[:, 1] < 0.5).astype(y.dtype)
    verb = "flipped" if how == "flip" else "redrawn"
    where = "" if split == "train" else " in both splits"
    name = f"{task.name}, {100 * fraction:g} % of labels {verb}{where}"
    return dataclasses.replace(task, y=np.where(chosen, new, y), name=name)
