"""Measurements as a JSON file, which a later run of a part may renew in part."""

import json
from dataclasses import dataclass
from pathlib import Path

from .cases import CASES, GIB


def load(file: Path) -> dict:
    """Stored results, or empty ones."""
    if file.exists():
        return json.loads(file.read_text())
    return {"runs": {}, "measurements": []}


def merge(stored: dict, run: str, about: dict, measurements: list[dict]) -> dict:
    """Put new measurements in the place of those of the same contestant and case.

    Args:
        stored: Results so far.
        run: Date and time of the new run, its name.
        about: Machine and settings of the new run.
        measurements: The new measurements.

    Returns:
        The results together; runs that nothing is left of are dropped.
    """
    renewed = {_key(measurement) for measurement in measurements}
    kept = [old for old in stored["measurements"] if _key(old) not in renewed]
    together = kept + [{"run": run, **new} for new in measurements]
    used = {measurement["run"] for measurement in together}
    runs = {**stored["runs"], run: about}
    return {
        "runs": {name: runs[name] for name in sorted(used)},
        "measurements": together,
    }


def save(results: dict, file: Path) -> None:
    """Write results, one measurement a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join("  " + json.dumps(one) for one in results["measurements"])
    runs = json.dumps(results["runs"], indent=1)
    file.write_text(f'{{"runs": {runs},\n"measurements": [\n{lines}\n]}}\n')


def _key(measurement: dict) -> tuple[str, str, str]:
    return measurement["case"], measurement["peer"], measurement["variant"]


@dataclass(frozen=True)
class Summary:
    """All measurements of one contestant on one case.

    Attributes:
        n: Number of examples.
        peer: The library.
        variant: The way it was used.
        seconds: The fastest call after the first; extrapolated where `share` is below
            1; None if there is none.
        slowest: The slowest call after the first.
        first: The fastest first call.
        share: How much of the kernel was reached.
        processes: How many processes measured it.
        peak_bytes: Largest resident size.
        note: What went wrong, or an empty text.
        error: Relative Frobenius distance from the float64 block.
        run: When.
    """

    n: int
    peer: str
    variant: str
    seconds: float | None
    slowest: float | None
    first: float | None
    share: float
    processes: int
    peak_bytes: int
    note: str
    error: float | None
    run: str


def summarize(measurements: list[dict]) -> Summary:
    """Summarize the measurements of one contestant on one case."""
    some = measurements[0]
    later = [t for one in measurements for t in one.get("seconds", [])[1:]]
    firsts = [one["seconds"][0] for one in measurements if one.get("seconds")]
    for one in measurements:
        if "elapsed" in one:
            later.append(one["elapsed"] / one["share"])
            firsts.append(one["first"])
    errors = [
        one["check"]["block"]["frobenius"] for one in measurements if "check" in one
    ]
    return Summary(
        n=some["n"],
        peer=some["peer"],
        variant=some["variant"],
        seconds=min(later, default=None),
        slowest=max(later, default=None),
        first=min(firsts, default=None),
        share=min(one.get("share", 1.0) for one in measurements),
        processes=len(measurements),
        peak_bytes=max(one.get("peak_bytes", 0) for one in measurements),
        note=next(filter(None, map(_note, measurements)), ""),
        error=max(errors, default=None),
        run=some["run"],
    )


def _note(measurement: dict) -> str:
    if measurement.get("skipped"):
        return f"skipped: {measurement['skipped']}"
    if measurement["outcome"] != "ok":
        return f"{measurement['outcome']}: {measurement['message']}"
    most = CASES[measurement["case"]].memory
    if most is not None and measurement.get("peak_bytes", 0) > most:
        return f"wrong: over {most / GIB:.0f} GiB of memory"
    wrong = measurement.get("check", {}).get("wrong")
    return f"wrong: {wrong}" if wrong else ""


def by_contestant(results: dict, case: str) -> list[Summary]:
    """Summaries of a case, in the order in which they were first measured."""
    groups: dict[tuple[str, str, str], list[dict]] = {}
    for measurement in results["measurements"]:
        if measurement["case"] == case:
            groups.setdefault(_key(measurement), []).append(measurement)
    return [summarize(group) for group in groups.values()]
