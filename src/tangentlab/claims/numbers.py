"""The numbers of all runs as text, small enough to be kept beside a paper."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import store
from ..store.config import to_json
from ..store.files import open_aside
from .doubting import told_by
from .records import Performed, Verification
from .scales import Scale
from .tables import finding_json, verification_json

VERDICTS = "verdicts.json"
_FACTS = ("started", "ended", "wall_seconds", "resumed", "devices", "versions", "git")


def write_numbers(verification: Verification, folder: Path) -> tuple[Path, ...]:
    """Write a file of JSON lines for each run that was drawn, and the verdicts.

    The first line of a run's file says what was run, where and when; then come its
    claims, the rows of its table, the numbers of each initialization and task that
    claims were judged by, and its metrics.

    Args:
        verification: What was verified.
        folder: Where the files go; those of the same names are replaced.

    Returns:
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs = [each for each in verification.runs if each.report is not None]
    lines = {
        folder / f"{_slug(each)}.jsonl": list(_lines(each, verification.scale))
        for each in runs
    }
    lines[folder / VERDICTS] = [verification_json(verification)]
    for path, values in lines.items():
        texts = [json.dumps(value, ensure_ascii=False) for value in values]
        with open_aside(path) as file:
            file.write(("\n".join(texts) + "\n").encode())
    return tuple(lines)


def _lines(each: Performed, scale: Scale) -> Iterator[dict[str, Any]]:
    assert each.path is not None and each.report is not None
    run = store.open_run(each.path, {each.run.experiment: type(each.run.config)})
    yield {
        "scale": scale,
        "experiment": run.experiment,
        "name": each.name,
        "claims": list(each.run.claims),
        "least_seeds": each.run.least_seeds,
        "beside": list(each.run.beside),
        "config": to_json(run.config),
        **{name: run.manifest[name] for name in _FACTS if name in run.manifest},
    }
    for claim in (told_by(each, made) for made in each.report.claims):
        findings = [finding_json(finding) for finding in claim.findings]
        alone = claim.alone and {
            "verdict": claim.alone.verdict,
            "remark": claim.alone.remark,
        }
        told = {
            "verdict": claim.verdict,
            "alone": alone,
            "criterion": claim.criterion,
            "limit": claim.limit,
            "remark": claim.remark,
        }
        yield {"claim": claim.id, **told, "findings": findings}
    table = each.report.console_table
    titles = [column.title for column in table.columns]
    for row in table.rows:
        yield {"row": dict(zip(titles, map(_plain, row.cells), strict=True))}
    for record in each.report.details:
        yield {"details": {name: _plain(value) for name, value in record.items()}}
    for metrics in run.metrics():
        yield {"metrics": metrics}


def _plain(value: Any) -> Any:
    """A cell as JSON has it; numbers that are not finite are None."""
    if isinstance(value, bool | str | int) or value is None:
        return value
    return float(value) if float("-inf") < float(value) < float("inf") else None


def _slug(each: Performed) -> str:
    return re.sub(r"[^a-z0-9]+", "-", each.title.lower()).strip("-")
