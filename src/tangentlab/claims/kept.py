"""Judging numbers that were kept, when the runs they are of are gone.

`numbers.py` writes them. What runs of several days and machines said of one claim is
joined from these files as it is from run folders.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import experiments
from .._checks import check_known
from ..analysis import Claim, Estimate, Finding, Threshold, exactly, over_draws
from ..analysis.resampling import NUM
from ..experiments.stages.judging import least_seeds
from ..report.page import Report
from ..report.tables import Column, Row, Table
from ..store.config import from_json, to_json
from .catalog import CATALOG
from .choosing import fitting
from .naming import run_command, run_seeds
from .records import Performed
from .scales import Run

Line = Mapping[str, Any]

_HEAD = ("experiment", "name", "claims", "config")


def read_kept(
    folder: Path, claims: Sequence[str], only: Sequence[str] | None = None
) -> tuple[Performed, ...]:
    """Read the numbers of runs.

    Args:
        folder: With a file of JSON lines for each run.
        claims: Ids of claims: runs that measure one of them.
        only: Experiments, networks and data sets, as in `choosing.chosen_runs`.

    Returns:
        The runs, without figures, in the order of their files.

    Raises:
        ValueError: If there is no such file, or one is not as `write_numbers` left it.
    """
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ValueError(
            f"There are no numbers of runs in {folder}: name a folder of *.jsonl files "
            "as `numbers=` of `python -m tangentlab.claims` writes them."
        )
    read = {path.name: _lines(path) for path in paths}
    all_runs = [_performed(lines, str(folder / name)) for name, lines in read.items()]
    chosen = fitting([each.run for each in all_runs], claims, only)
    return tuple(each for each in all_runs if any(each.run is run for run in chosen))


def _lines(path: Path) -> list[Line]:
    try:
        lines = [json.loads(text) for text in path.read_text("utf-8").splitlines()]
    except ValueError as error:
        raise ValueError(f"{path} is not a file of JSON lines: {error}.") from None
    if not lines or not set(_HEAD) <= set(lines[0]):
        raise ValueError(
            f"{path} does not begin with what was run: its first line must have "
            f"{', '.join(_HEAD)}."
        )
    return lines


def _performed(lines: list[Line], where: str) -> Performed:
    head = lines[0]
    known = experiments.EXPERIMENTS
    check_known("experiment", head["experiment"], known)
    kind = known[head["experiment"]].config
    # Options that came later: nothing is judged by them, and names are told by others.
    given = {**to_json(kind()), **head["config"]}
    config = from_json(kind, given, where=f"{where}: config")
    least = least_seeds(config.model) if hasattr(config, "model") else 0
    run = Run(head["experiment"], config, least_seeds=least)
    seeds = tuple(head.get("initializations") or run_seeds(run))
    claims = tuple(_claim(each, len(seeds)) for each in lines if "claim" in each)
    run = run._replace(claims=tuple(head["claims"]))
    return Performed(
        run=run,
        name=head["name"],
        command=run_command(run),
        seeds=seeds,
        path=None,
        seconds=float(np.max(head.get("wall_seconds", 0.0))),
        reused=True,
        report=Report(
            title=head["name"],
            summary=_origin(head),
            sections=(),
            console_table=_table([each["row"] for each in lines if "row" in each]),
            claims=claims,
        ),
    )


def _origin(head: Line) -> str:
    """When and where the numbers were measured, in a sentence."""
    versions = head.get("versions", {})
    words = [f"Numbers of {str(head.get('started', 'an unknown day'))[:10]}"]
    words += [" and ".join(head.get("devices", ())), f"jax {versions.get('jax', '?')}"]
    return ", ".join(filter(None, words)) + "; figures are not kept with them."


def _claim(line: Line, num_seeds: int) -> Claim:
    entry = CATALOG[line["claim"]]
    made = Claim(
        entry.id,
        entry.statement,
        line.get("criterion", entry.criterion),
        tuple(_finding(each, num_seeds) for each in line["findings"]),
        line["verdict"],
        line["remark"],
        line.get("limit", ""),
    )
    alone = line.get("alone")
    return made._replace(alone=made._replace(**alone)) if alone else made


def _finding(line: Line, num_seeds: int) -> Finding:
    value, low, high = (np.nan if line[end] is None else line[end] for end in _ENDS)
    threshold = None
    if line["threshold"] is not None:
        threshold = Threshold(line["threshold"], line["above"])
    kind = line.get("kind", "log p" if "log₁₀ p" in line["name"] else "number")
    estimate = Estimate(value, low, high, np.empty(0))
    if threshold and kind == "number":
        replicates = _replicates(line, threshold, estimate, num_seeds)
        estimate = Estimate(value, low, high, replicates)
    percent = line.get("percent", False)
    return Finding(line["name"], estimate, line["verdict"], percent, threshold, kind)


_ENDS = ("value", "low", "high")


def _replicates(
    line: Line, threshold: Threshold, estimate: Estimate, num_seeds: int
) -> np.ndarray:
    """Numbers that lie on both sides of the threshold as those that are gone did."""
    if line.get("p") is not None:
        return _with_p_values(line["p"], threshold)
    if estimate.low == estimate.high:
        return exactly(estimate.value).replicates
    if num_seeds < 2:
        return np.empty(0)
    # Student's interval, of which older files have the ends alone.
    unit = over_draws([*([0.0] * (num_seeds - 1)), 1.0])
    scaled = (unit.replicates - unit.value) / (unit.high - unit.value)
    return estimate.value + scaled * (estimate.high - estimate.value)


def _with_p_values(p: list[float | None], threshold: Threshold) -> np.ndarray:
    if None in p:
        return np.empty(0)
    short, beyond = (round(each * (NUM + 1)) - 1 for each in p if each is not None)
    equal = max(short + beyond - NUM, 0)  # neither beyond the threshold nor short of it
    counts = (short - equal, equal, beyond - equal)
    side = 1.0 if threshold.above else -1.0
    return threshold.value + np.repeat([-side, 0.0, side], counts)


def _table(rows: list[Line]) -> Table:
    titles = list(dict.fromkeys(title for row in rows for title in row))
    columns = [Column(title, _format(rows, title)) for title in titles]
    cells = [tuple(row.get(title) for title in titles) for row in rows]
    return Table(tuple(columns), tuple(map(Row, cells)))


def _format(rows: list[Line], title: str) -> str:
    numbers = any(isinstance(row.get(title), float) for row in rows)
    return ".4g" if numbers else ""
