"""A complete experiment with claims that takes no time."""

import multiprocessing
import os
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.figure import Figure

from tangentlab import experiments
from tangentlab.analysis import (
    Claim,
    Finding,
    Threshold,
    all_of,
    bootstrap,
    judge,
    mean,
)
from tangentlab.claims import CATALOG, Run, plans
from tangentlab.experiments.base import Experiment
from tangentlab.models import ModelName
from tangentlab.report.page import Report, Section
from tangentlab.report.tables import Column, Row, Table


@dataclass(frozen=True)
class Toss:
    """Toss something and see whether it comes out above zero."""

    model: str = "mlp"
    """Who tosses."""
    data: str = "coins"
    """What is tossed."""
    mean: float = 1.0
    """What comes out in the mean."""
    seed: int = 0
    """Decides the tosses."""
    seeds: int = 5
    """Number of tosses."""
    trouble: Literal[
        "none", "run", "half", "report", "silent", "few", "died", "dies"
    ] = "none"
    """What goes wrong; with few nothing can be judged."""


def run(config, folder, *, progress):
    del progress
    if config.trouble == "run":
        raise ValueError("The coin rolled <away>.")
    died = folder.path.parent / f".died-{config.seed}"
    if config.trouble == "dies" or (config.trouble == "died" and not died.exists()):
        assert multiprocessing.parent_process() is not None, "that would be the tests"
        died.touch()
        os._exit(9)
    if not folder.has_arrays("tosses"):
        noise = np.random.default_rng(config.seed).normal(size=config.seeds)
        folder.save_arrays("tosses", values=config.mean + 0.1 * noise)
        if config.trouble == "half":
            raise RuntimeError("It got dark.")
    folder.log(resumed=config.trouble == "half")


def report(run):
    if run.config.trouble == "report":
        raise LookupError("no picture")
    values = run.arrays("tosses")["values"]
    estimate = bootstrap(mean, values)
    few = run.config.trouble == "few"
    (verdict,) = (None,) if few else judge([estimate], 0.0, above=True)
    judged = Finding("toss", estimate, verdict, threshold=Threshold(0.0, True))
    claims = tuple(
        Claim(
            name,
            "It is positive",
            "above 0",
            (judged,),
            "inconclusive" if verdict is None else all_of([verdict]),
            "too few tosses" if few else "so it is",
        )
        for name in ("D1", "D2", "D47")
    )
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(np.arange(1, len(values) + 1), values, "o-", label="tosses")
    axes.plot(np.arange(1, len(values) + 1), np.cumsum(values), "s--", label="sums")
    axes.axhline(0, color="gray")
    axes.set(xlabel="number", ylabel="value")
    axes.legend()
    table = Table((Column("value", ".2f"),), tuple(Row((v,)) for v in values))
    sections = (Section("Tosses", "They lie around the mean.", {"tosses": figure}),)
    silent = run.config.trouble == "silent"
    told = () if silent else claims
    details = tuple({"number": n, "value": float(v)} for n, v in enumerate(values))
    return Report("Tosses", "Fair.", sections, table, claims=told, details=details)


@dataclass(frozen=True)
class SharedToss(Toss):
    """A toss that others may have a share in."""


def run_shared(config, folder, *, progress, cluster=None):
    run(config, folder, progress=progress)
    workers = None if cluster is None else len(cluster.workers())
    folder.log(workers=workers, link=id(cluster))


EXPERIMENTS = {
    "toss": Experiment(Toss, run, report),
    "shared_toss": Experiment(SharedToss, run_shared, report, shares=True),
}


def use_plan(patch, *runs: Run, networks: tuple[ModelName, ...] = ()) -> None:
    """Make runs the whole plan of `smoke`; at `laptop` there is D7 alone.

    D1 and D2 speak of the networks given, and are not about the paper's here.
    """
    known = {**experiments.EXPERIMENTS, **EXPERIMENTS}
    patch.setattr(experiments, "EXPERIMENTS", known)
    for name in ("D1", "D2"):
        patch.setitem(CATALOG, name, CATALOG[name]._replace(networks=networks))
    patch.setattr(plans, "PLANS", ({"smoke": runs, "laptop": (toss("D7"),)},))


def toss(*claims: str, **options) -> Run:
    """A planned run of the toy experiment."""
    return Run("toss", Toss(**options), claims)


def shared_toss(*claims: str, **options) -> Run:
    """A planned run that can leave work to a cluster."""
    return Run("shared_toss", SharedToss(**options), claims)
