"""The results as Markdown, written between two markers of a page."""

from pathlib import Path

from .cases import CASES, OURS
from .results import Summary, by_contestant

BEGIN, END = "<!-- bench-cpu -->", "<!-- /bench-cpu -->"
_BUSY = 0.1  # share of the machine used by others from which a run counts as disturbed


def write(results: dict, page: Path) -> None:
    """Replace the section between the markers, or append one."""
    section = f"{BEGIN}\n{markdown(results)}\n{END}"
    text = page.read_text() if page.exists() else "# Benchmarks\n"
    if BEGIN in text and END in text:
        before, rest = text.split(BEGIN, 1)
        text = before + section + rest.split(END, 1)[1]
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)


def markdown(results: dict) -> str:
    """Return the machine, the overview and one table a case."""
    names = [one for one in CASES if by_contestant(results, one)]
    parts = [
        "## On the CPU, beside other libraries",
        _INTRODUCTION,
        _machines(results),
        _overview(results, names),
    ]
    for name in names:
        parts.append(_table(results, name))
    return "\n\n".join(parts)


_INTRODUCTION = """One logit, float32, the same weights and inputs for all. *Second
call* is the fastest call after the first over all processes, the slowest beside it;
*first call* includes tracing and compiling, not imports. Each process is fresh, and
those of all contestants take turns. *Memory* is the largest resident size of the
process, libraries and inputs included. *Error* is the relative Frobenius distance from
the kernel of 16 examples in float64 by plain `jax.grad`; every kernel that was finished
in memory was also compared with ours, entry by entry. *Ratio* is the time of the second
call over ours: above 1, ours is faster. `make bench-cpu` measures it all again."""


def _machines(results: dict) -> str:
    lines = []
    for run, about in results["runs"].items():
        machine = about["machine"]
        lines.append(
            f"- {run}: {machine['processor']}, {machine['cores']} cores used, "
            f"{machine['memory']}, {machine['system']} {machine['machine']}; inputs: "
            f"{about['inputs']}; {_versions(results, run)}. "
            + _disturbance(results, run)
        )
    if len(results["runs"]) > 1:
        lines.append(
            "- **These runs were made apart**: ratios between them are not measured "
            "side by side."
        )
    return "\n".join(lines)


def _versions(results: dict, run: str) -> str:
    found: dict[str, dict[str, str]] = {}
    for one in results["measurements"]:
        if one["run"] == run and one.get("versions"):
            found[one["peer"]] = one["versions"]
    return "; ".join(
        f"{peer} with " + ", ".join(f"{name} {text}" for name, text in versions.items())
        for peer, versions in found.items()
    )


def _disturbance(results: dict, run: str) -> str:
    shares = [
        one["others"]
        for one in results["measurements"]
        if one["run"] == run and one.get("others") is not None
    ]
    if not shares:
        return "How busy others kept the machine is not known."
    busy = sum(share > _BUSY for share in shares)
    median = sorted(shares)[len(shares) // 2]
    return (
        f"Other processes used {median:.0%} of the machine in "
        f"the median, more than {_BUSY:.0%} in {busy} of {len(shares)} measurements."
    )


def _overview(results: dict, names: list[str]) -> str:
    rows = ["| case | ours | fastest peer | | ratio |", "|---|---|---|---|---|"]
    for name in names:
        found = by_contestant(results, name)
        ours = next((one for one in found if one.peer == OURS), None)
        peers = [one for one in found if one.peer != OURS and _valid(one)]
        best = min(peers, key=lambda one: one.seconds or 0.0, default=None)
        rows.append(
            f"| {_title(name, found)} | {_seconds(ours)} | {_seconds(best)} | "
            f"{f'{best.peer}, {best.variant}' if best else ''} | {_ratio(best, ours)} |"
        )
    return "\n".join(rows)


def _table(results: dict, name: str) -> str:
    found = by_contestant(results, name)
    ours = next((one for one in found if one.peer == OURS), None)
    others = sorted(
        (one for one in found if one.peer != OURS),
        key=lambda one: (one.seconds is None, one.seconds or 0.0),
    )
    rows = [
        f"### {_title(name, found)}",
        "",
        "| library | way | second call | slowest | first call | processes | memory "
        "| error | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [_row(one, ours) for one in ([ours] if ours else []) + others]
    return "\n".join(rows)


def _row(one: Summary, ours: Summary | None) -> str:
    if one.seconds is None:
        took = one.note
    elif one.share < 1:
        took = f"{_number(one.seconds)} (extrapolated from {one.share:.1%})"
    else:
        took = " ".join(filter(None, [_number(one.seconds), one.note]))
    cells = [
        f"**{one.peer}**" if one.peer == OURS else one.peer,
        one.variant,
        took,
        "" if one.slowest is None else _number(one.slowest),
        "" if one.first is None else _number(one.first),
        str(one.processes),
        f"{one.peak_bytes / 2**30:.1f} GiB" if one.peak_bytes else "",
        "" if one.error is None else f"{one.error:.0e}",
        _ratio(one, ours),
    ]
    return "| " + " | ".join(cells) + " |"


def _title(name: str, found: list[Summary]) -> str:
    return f"{CASES[name].title}, n = {found[0].n:,}"


def _valid(one: Summary) -> bool:
    return one.seconds is not None and not one.note.startswith("wrong")


def _seconds(one: Summary | None) -> str:
    if one is None:
        return ""
    return one.note if one.seconds is None else _number(one.seconds)


def _number(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def _ratio(one: Summary | None, ours: Summary | None) -> str:
    if one is None or ours is None or one.seconds is None or ours.seconds is None:
        return ""
    return f"{one.seconds / ours.seconds:.3g}"
