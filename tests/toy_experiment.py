"""A complete experiment that takes no time: real folders, figures and pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.figure import Figure

from tangentlab import store
from tangentlab.experiments.base import Experiment
from tangentlab.report.page import Highlight, Report, Section
from tangentlab.report.tables import Column, Row, Table


@dataclass(frozen=True)
class Step:
    """How to step."""

    size: float = 0.5
    """Length of a step."""


@dataclass(frozen=True)
class Walk:
    """Walk at random and look where that leads."""

    lengths: tuple[int, ...] = (4, 9)
    """Number of steps of each walk."""
    kind: Literal["plain", "broken"] = "plain"
    """Whether the walk breaks off with an error."""
    start: tuple[int, float] = (0, 0.0)
    """Where to start."""
    folder: Path | None = None
    """Some folder."""
    step: Step = Step()
    """How to step."""
    seed: int = 0
    """Decides the steps."""


def run(config, folder, *, progress):
    del progress
    rng = np.random.default_rng(config.seed)
    for length in config.lengths:
        steps = config.step.size * rng.choice([-1.0, 1.0], length)
        folder.save_arrays(f"walk-{length}", path=np.cumsum(steps))
        folder.log(length=length, end=steps.sum())
    if config.kind == "broken":
        raise ValueError("The walk broke off.")


def report(run):
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    for length in run.config.lengths:
        axes.plot(run.arrays(f"walk-{length}")["path"], label=f"{length} steps")
    axes.legend()
    rows = tuple(Row((line["length"], line["end"])) for line in run.metrics())
    table = Table((Column("steps", "d"), Column("end", ".2f")), rows, "Two walks.")
    section = Section("Where walks lead", "Nowhere in particular.", {"walks": figure})
    return Report(
        "Walks", "They wander.", (section,), table, (Highlight("2", "walks"),)
    )


EXPERIMENTS = {"walk": Experiment(Walk, run, report)}
CONFIGS = {"walk": Walk}


def make_run(root: Path, config: Walk | None = None) -> Path:
    """Write a small run without its experiment."""
    with store.create(root, "walk", config or Walk()) as folder:
        folder.save_arrays("numbers", a=np.arange(3), b=np.eye(2))
        folder.log(epoch=0, loss=1.5)
    return folder.final
