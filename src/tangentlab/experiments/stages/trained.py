"""Networks after training, and their tangent kernels."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import jax

from ..._types import Apply, Inputs, Params, State
from ...kernels import gram
from ...kernels.request import Precision
from ...models import Model, mixed_precision
from .kernel import keeps_gram
from .seeds import Seed
from .shared_networks import train_once
from .training import Job, save_history, training_options

Statistics = Literal["running", "initial"]
"""Batch statistics of a trained network's kernel: its own, or mean 0 and variance 1."""


class Trained(NamedTuple):
    """A network at the end of training.

    Attributes:
        model: The network.
        params: Its parameters.
        state: Its batch statistics.
    """

    model: Model
    params: Params
    state: State

    @property
    def apply(self) -> Apply:
        """The network, its batch statistics fixed."""
        return self.model.freeze(self.state)

    @property
    def parts(self) -> dict[str, Any]:
        """What `with_state` takes."""
        return {"params": self.params, "state": self.state}


TRAINABLE = {"params": True, "state": False}
"""Which of these parts a kernel differentiates."""


@lru_cache(maxsize=8)
def with_state(model: Model) -> Apply:
    """A network whose batch statistics are given beside its parameters.

    One function for all parameters and statistics: kernels compile it once.

    Args:
        model: The network.

    Returns:
        `apply({"params": ..., "state": ...}, x)`.
    """

    def apply(parts: Params, x: Inputs) -> Any:
        return model.freeze(parts["state"])(parts["params"], x)

    return apply


def train_networks(
    seed: Seed, job: Job, statistics: Statistics, *, mixed: bool
) -> list[Trained]:
    """Train a network on each task, and save how that went.

    After an interruption training goes on, and one that was finished is read.

    Args:
        seed: Network, parameters, samples and where to save.
        job: What to learn.
        statistics: Which batch statistics the trained networks keep.
        mixed: Train in bfloat16, with parameters in float32.

    Returns:
        The network of each task, as it is in float32.
    """
    name, start = job.results("network"), time.perf_counter()
    options = training_options(seed, name, "Network")
    in_training = replace(seed, model=_rounded(seed.model)) if mixed else seed
    history = train_once(in_training, job.tasks, job.recipe, options)
    if not seed.has(name):
        save_history(seed, name, history, time.perf_counter() - start)
    states = history.states
    if statistics == "initial":
        states = [seed.model.init_state()] * len(job.tasks)
    ends = zip(history.params, states, strict=True)
    return [Trained(seed.model, params, state) for params, state in ends]


_rounded = lru_cache(maxsize=8)(mixed_precision)
"""One model for all initializations of a network: training compiles it once."""


@contextmanager
def trained_gram(
    seed: Seed, trained: Trained, name: str, precision: Precision, on_disk: bool | None
) -> Iterator[Any]:
    """The Gram matrix of a trained network, as long as it is needed.

    At a time there is one: of 60,000 samples it takes 14 GB.

    Args:
        seed: The samples, and where a matrix on disk goes.
        trained: The network.
        name: Of the matrix.
        precision: Of `tl.gram`.
        on_disk: Keep it on disk, from where a resumed run goes on; by default on a CPU.

    Yields:
        An array on the device, or a `TiledGram`.
    """
    folder = seed.work(name) if keeps_gram(on_disk, seed.cluster) else None
    if folder:
        folder.parent.mkdir(parents=True, exist_ok=True)
    K = gram(
        with_state(trained.model),
        trained.parts,
        seed.dataset.x,
        trainable=TRAINABLE,
        precision=precision,
        store=folder,
        cluster=seed.cluster,
        progress=seed.progress,
    )
    try:
        yield K
    finally:
        if isinstance(K, jax.Array):
            K.delete()  # now, not when the last name of it is gone
    if folder:
        shutil.rmtree(folder)
