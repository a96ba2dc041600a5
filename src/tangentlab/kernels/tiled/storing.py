"""Computes a Gram matrix of gradients into a folder, one tile after the other."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from ..._aside import remove_leftovers
from ..engine import Block, Job, run
from ..features import Feature, Rows
from ..planning import Plan, backend, free_memory
from ..preparing import Prepared
from ..request import Request
from ..results import check_block_finite
from ..verifying import verify
from .fingerprint import fingerprint
from .folder import check_space, write_tile
from .manifest import Manifest, versions
from .producing import begin, missing_places, not_there, tile_bar
from .tiled_gram import TiledGram, open_gram
from .tiles import Grid, Place
from .units import in_order, kept_panels, plan_units
from .written_plan import plan_from_json, plan_to_json

_log = logging.getLogger(__name__)


def store_gram(prepared: Prepared, request: Request, folder: Path) -> TiledGram:
    """Compute a Gram matrix into a folder, or what is missing there.

    Args:
        prepared: What is to be computed.
        request: The options.
        folder: Where to, checked.

    Returns:
        The Gram matrix on disk.
    """
    remove_leftovers(folder)
    verify(prepared.network, prepared.features, prepared.x_1)
    manifest = _begin(prepared, request, folder)
    plan, grid = plan_from_json(manifest.plan), manifest.grid(folder)
    verify(prepared.network, _uncut(plan), prepared.x_1)  # those of an older version
    missing = missing_places(grid)
    check_space(grid, missing)
    job = Job(
        prepared.network.source,
        prepared.network.values,
        plan,
        prepared.problem,
        prepared.x_1,
        prepared.x_2,
        request.precision,
    )
    kept = _kept(job, request.memory)
    passes = len(plan.passes)
    with tile_bar(grid, missing, passes, show=request.progress) as advance:
        ordered = in_order(missing, grid.side, kept)
        units = not_there(grid, ordered, lambda num: advance(num * passes))
        for block in run(job, units, advance, kept):
            _keep(grid, block)
    return open_gram(folder)


def _begin(prepared: Prepared, request: Request, folder: Path) -> Manifest:
    """The manifest that is there, or a new one with a plan for the memory there is."""
    network, problem = prepared.network, prepared.problem
    x_2 = None if problem.symmetric else prepared.x_2
    hashes = fingerprint(network, prepared.x_1, x_2)

    def manifest(plan: dict[str, Any]) -> Manifest:
        return Manifest(
            shape=(problem.n, problem.m),
            symmetric=problem.symmetric,
            dtype="float64" if problem.itemsize == 8 else "float32",
            precision=request.precision,
            backend=backend(),
            fingerprint=hashes,
            made_by=versions(),
            plan=plan,
        )

    def plan() -> dict[str, Any]:
        features = prepared.features
        return plan_to_json(
            plan_units(network.source, features, problem, request.memory)
        )

    return begin(folder, manifest, plan)


def _uncut(plan: Plan) -> list[Feature]:
    """Features of a plan, with the slices of rows put together again."""
    features: list[Feature] = []
    steps = (feature for step in plan.steps for feature in (*step.now, *step.later))
    for feature in (*steps, *plan.idle):
        last = features[-1] if features else None
        if isinstance(last, Rows) and isinstance(feature, Rows):
            if last.piece == feature.piece and last.stop == feature.start:
                features[-1] = last._replace(stop=feature.stop)
                continue
        features.append(feature)
    return features


def _kept(job: Job, memory: int | None) -> int:
    if memory is not None and memory < job.plan.needed:
        _log.warning(
            "The plan that this folder was begun with needs %s bytes, more than the %s "
            "of `memory`; it is kept, so that all tiles are alike",
            f"{job.plan.needed:,}",
            f"{memory:,}",
        )
    memory = free_memory() if memory is None else memory
    return kept_panels(job.source, job.plan, job.problem, memory)


def _keep(grid: Grid, block: Block) -> None:
    block = block._replace(values=np.asarray(block.values))
    check_block_finite(block, grid.symmetric)
    write_tile(grid, Place(block.rows, block.columns), block.values)
