"""Judging numbers that were kept, when the runs they are of are gone.

`numbers.py` writes them. What runs of several days and machines said of one claim is
joined from these files as it is from run folders; what was planned beside them, and is
in none of the files, was not measured.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from .. import experiments
from .._checks import check_known
from ..analysis import Claim, Estimate, Finding, Threshold, exactly, over_draws
from ..analysis.resampling import NUM
from ..report.page import Report
from ..report.tables import Column, Row, Table
from ..store.config import from_json, to_json
from .catalog import CATALOG
from .naming import run_command, run_seeds
from .origins import Origin, origin_of
from .records import Performed
from .scales import Run, Scale

Line = Mapping[str, Any]

_HEAD = ("scale", "experiment", "name", "claims", "config", "least_seeds", "beside")


def read_kept(folder: Path, scale: Scale) -> tuple[Performed, ...]:
    """Read the numbers of runs.

    Args:
        folder: With a file of JSON lines for each run.
        scale: That they are of.

    Returns:
        The runs, without figures, in the order of their files.

    Raises:
        ValueError: If there is no such file, one is not as `write_numbers` left it or
            is of another scale, or two of them hold the same initialization.
    """
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ValueError(
            f"There are no numbers of runs in {folder}: name a folder of *.jsonl files "
            "as `numbers=` of `python -m tangentlab.claims` writes them."
        )
    read = {path: _lines(path) for path in paths}
    for path, (head, *_) in read.items():
        if head["scale"] != scale:
            raise ValueError(
                f"{path} holds numbers of the scale {head['scale']!r}, and claims are "
                f"to be judged at {scale!r}: name the scale of the numbers."
            )
    performed = {path: _performed(lines, path) for path, lines in read.items()}
    for (path, one), (other_path, other) in combinations(performed.items(), 2):
        if twice := _held_twice(one, other):
            raise ValueError(
                f"{path} and {other_path} are of the same run, with initialization "
                f"{twice}, which would count twice: leave one of them out."
            )
    return tuple(performed.values())


def not_kept(planned: Sequence[Run], runs: Sequence[Run]) -> list[Run]:
    """What was planned and is not among the runs whose numbers were kept.

    Args:
        planned: All runs of a scale.
        runs: Those whose numbers were kept; with other options than planned, perhaps,
            and one in several parts.

    Returns:
        Planned runs, each with the claims that no run in its place tells anything of:
        one of the same experiment, network and data set, and of several such plans the
        one whose options it has.
    """
    told = {
        (_place(run, claim, planned), claim) for run in runs for claim in run.claims
    }
    left = []
    for place, run in enumerate(planned):
        claims = tuple(claim for claim in run.claims if (place, claim) not in told)
        if claims:
            left.append(run._replace(claims=claims))
    return left


def _place(run: Run, claim: str, planned: Sequence[Run]) -> int | None:
    """Which of the planned runs of a claim this one is; None if it is none of them."""

    def equal(place: int) -> int:
        options, own = (to_json(each.config) for each in (planned[place], run))
        return sum(own.get(name) == value for name, value in options.items())

    places = [
        place
        for place, other in enumerate(planned)
        if claim in other.claims and _subject(other) == _subject(run)
    ]
    return max(places, key=equal, default=None)


def _subject(run: Run) -> tuple[str, Any, Any]:
    model, data = (getattr(run.config, name, None) for name in ("model", "data"))
    return run.experiment, model, data


def _held_twice(one: Performed, other: Performed) -> str:
    """An initialization that two files hold for one claim; empty if none is."""
    if one.run.experiment != other.run.experiment or not (
        set(one.run.claims) & set(other.run.claims)
    ):
        return ""
    ways = (to_json(each.run.config) | {"seed": 0, "seeds": 0} for each in (one, other))
    if len({json.dumps(way, sort_keys=True) for way in ways}) > 1:
        return ""
    return ", ".join(map(str, sorted(set(one.seeds) & set(other.seeds))))


def _lines(path: Path) -> list[Line]:
    lines = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except ValueError as error:
            reason = f"its line {number} is none ({error})"
            raise ValueError(f"{path} is not a file of JSON lines: {reason}.") from None
        if not isinstance(line, dict):
            raise ValueError(
                f"{path} is not a file of JSON lines as `write_numbers` leaves it: its "
                f"line {number} is no object."
            )
        lines.append(line)
    if not lines or not set(_HEAD) <= set(lines[0]):
        raise ValueError(
            f"{path} does not begin with what was run: its first line must have "
            f"{', '.join(_HEAD)}."
        )
    return lines


def _performed(lines: list[Line], path: Path) -> Performed:
    try:
        return _read(lines)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is not as it was written: {what}") from error


def _read(lines: list[Line]) -> Performed:
    head = lines[0]
    known = experiments.EXPERIMENTS
    check_known("experiment", head["experiment"], known)
    kind = known[head["experiment"]].config
    # Options that came later: nothing is judged by them, and names are told by others.
    given = {**to_json(kind()), **head["config"]}
    run = Run(
        head["experiment"],
        from_json(kind, given, where="config"),
        tuple(head["claims"]),
        least_seeds=head["least_seeds"],
        beside=tuple(head["beside"]),
    )
    seeds = run_seeds(run)
    if parts := head.get("initializations"):  # each was a run of its own
        seeds = tuple(parts)
        config = dataclasses.replace(run.config, seed=seeds[0], seeds=len(seeds))
        run = run._replace(config=config)
    claims = tuple(_claim(each, len(seeds)) for each in lines if "claim" in each)
    origin = origin_of(head)
    return Performed(
        run=run,
        name=head["name"],
        command=run_command(run),
        seeds=seeds,
        path=None,
        seconds=float(np.sum(head.get("wall_seconds", 0.0))),
        reused=True,
        report=Report(
            title=head["name"],
            summary=_told(origin),
            sections=(),
            console_table=_table([each["row"] for each in lines if "row" in each]),
            claims=claims,
        ),
        origin=origin,
    )


def _told(origin: Origin) -> str:
    """When and where the numbers were measured, in a sentence."""
    return (
        f"Numbers of {origin.day}, {origin.hardware}, jax {origin.jax}; figures are "
        "not kept with them."
    )


def _claim(line: Line, num_seeds: int) -> Claim:
    check_known("claim", line["claim"], CATALOG)
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
    # Older files have the ends alone: of Student's interval over several seeds, of a
    # bootstrap over the tasks of one.
    if num_seeds < 2:
        scaled = norm.ppf((np.arange(NUM) + 0.5) / NUM) / norm.ppf(0.975)
    else:
        unit = over_draws([*([0.0] * (num_seeds - 1)), 1.0])
        scaled = (unit.replicates - unit.value) / (unit.high - unit.value)
    sides = estimate.value - estimate.low, estimate.high - estimate.value
    return estimate.value + scaled * np.where(scaled < 0, *sides)


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
