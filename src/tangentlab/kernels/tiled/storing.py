"""Computes a Gram matrix of gradients into a folder, one tile after the other."""

import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._aside import remove_leftovers
from ..._progress import Advance
from ...cluster.fitness import versions
from ..active import skip_idle_on_host
from ..engine import Block, Job, compile_features, run
from ..features import Feature, Rows
from ..planning import Plan, backend, free_memory
from ..preparing import Prepared
from ..request import Request
from ..results import check_block_finite
from ..verifying import verify
from .fingerprint import fingerprint
from .folder import check_values, warn_untold
from .manifest import Manifest
from .producing import begin, fill_folder
from .shared_features import SharedFeatures
from .tiled_gram import TiledGram
from .tiles import Place
from .units import example_bytes, kept_panels, plan_units
from .written_plan import plan_from_json, plan_to_json

_log = logging.getLogger(__name__)


class GramMaker:
    """Computes tiles of a Gram matrix of gradients, by the plan of their folder."""

    def __init__(
        self,
        prepared: Prepared,
        request: Request,
        folder: Path,
        hashes: dict[str, str] | None = None,
        *,
        shared: bool = False,
        trusted: Sequence[Feature] = (),
    ):
        """Begin a folder, or read the plan of one that was begun.

        Args:
            prepared: What is to be computed.
            request: The options.
            folder: Where to, checked.
            hashes: Its fingerprint, if that is known.
            shared: Whether others fill the folder too, and may share features.
            trusted: Features that another process verifies.
        """
        if set(prepared.features) != set(trusted):
            verify(prepared.network, prepared.features, prepared.x_1)
        hashes = fingerprint_of(prepared) if hashes is None else hashes
        self.manifest = _begin(prepared, request, folder, hashes)
        plan = plan_from_json(self.manifest.plan)
        planned = _uncut(plan)  # those of older versions
        if set(planned) != set(trusted):
            verify(prepared.network, planned, prepared.x_1)
        self._job = Job(
            prepared.network.source,
            prepared.network.values,
            plan,
            prepared.problem,
            prepared.x_1,
            prepared.x_2,
            request.precision,
        )
        self.passes = len(plan.passes)
        self.kept = _kept(self._job, request.memory)
        self.feature_bytes = _feature_bytes(self._job)
        features = SharedFeatures(folder, self.manifest.seal)
        self._share = features.get if shared and self.feature_bytes else None
        self._asked: deque[Place] = deque()
        self._advance: Advance = lambda _: None
        self._blocks: Iterator[Block] = iter(())

    def compile(self) -> None:
        """Compile what tiles need on a CPU, before one is asked for."""
        if backend() == "cpu":
            compile_features(self._job)

    def compute(self, place: Place, advance: Advance) -> np.ndarray:
        """Compute a tile; features of panels stay in memory for the next.

        Args:
            place: Which one.
            advance: Told the number of pairs of examples done, times passes.

        Returns:
            Its entries.
        """
        self._asked.append(place)
        self._advance = advance
        block = next(self._blocks, None)
        if block is None:  # the first, or the first after an error
            self._blocks = run(
                self._job, self._places(), self._tell, self.kept, self._share
            )
            block = next(self._blocks)
        block = block._replace(values=np.asarray(block.values))
        check_block_finite(block, self.manifest.symmetric)
        return block.values

    def _tell(self, pairs: int) -> None:
        self._advance(pairs)

    def _places(self) -> Iterator[Place]:
        while self._asked:
            yield self._asked.popleft()


def store_gram(prepared: Prepared, request: Request, folder: Path) -> TiledGram:
    """Compute a Gram matrix into a folder, or what is missing there.

    Args:
        prepared: What is to be computed.
        request: The options.
        folder: Where to, checked.

    Returns:
        The Gram matrix on disk.

    Raises:
        ValueError: If values are not known.
    """
    check_values(traced=prepared.traced)
    warn_untold(folder, told=prepared.network.told)
    remove_leftovers(folder)
    maker = GramMaker(prepared, request, folder)
    return fill_folder(maker, folder, progress=request.progress)


def fingerprint_of(
    prepared: Prepared, known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Hash what a Gram matrix is computed of.

    Args:
        prepared: What is to be computed.
        known: Hashes of samples that are known, by what they are of.

    Returns:
        Hashes by what they are of.
    """
    x_2 = None if prepared.problem.symmetric else prepared.x_2
    return fingerprint(prepared.network, prepared.x_1, x_2, known)


def _begin(
    prepared: Prepared, request: Request, folder: Path, hashes: dict[str, str]
) -> Manifest:
    """The manifest that is there, or a new one with a plan for the memory there is."""
    network, problem = prepared.network, prepared.problem

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

    def units(features: Sequence[Feature], memory: int | None) -> Plan:
        return plan_units(network.source, features, problem, memory)

    def plan() -> dict[str, Any]:
        made = units(prepared.features, request.memory)
        if backend() == "cpu":
            made = skip_idle_on_host(made, prepared, units)
        return plan_to_json(made)

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


def _feature_bytes(job: Job) -> int:
    """Of all examples; 0 if each tile makes its own, or looks at what is idle."""
    if backend() != "cpu" or len(job.plan.passes) > 1 or job.plan.idle:
        return 0
    problem = job.problem
    examples = problem.n if problem.symmetric else problem.n + problem.m
    return examples * example_bytes(job.source, job.plan, problem)


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
