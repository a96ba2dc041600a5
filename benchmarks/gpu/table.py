"""Results of an accelerator: one JSON file, a section of a page, a figure."""

import json
from pathlib import Path

from .figure import draw

BEGIN, END = "<!-- bench-gpu -->", "<!-- /bench-gpu -->"
_TARGETS = {
    "ResNet18, all parameters active, fast": (90, 5e-4),
    "ResNet18, all parameters active, high": (220, 1e-4),
    "ResNet18 as published, high": (10, 1e-4),
    "LeNet, float32": (3, None),
    "MLP, float32": (3, None),
}
_HEADERS = (
    "network, products",
    "seconds",
    "compiling",
    "error",
    "GPU, host memory",
    "floor: arithmetic, traffic",
    "ratio",
    "target",
)
_COLUMNS = f"| {' | '.join(_HEADERS)} |\n|{'---|' * len(_HEADERS)}"


def collect(folder: Path, results: Path) -> None:
    """Put new measurements in the place of stored ones of the same case or point."""
    file = results / "gpu.json"
    stored = json.loads(file.read_text()) if file.exists() else {}
    cases = {one["case"]: one for one in stored.get("cases", [])}
    for path in sorted(folder.glob("[0-9].json")):
        one = json.loads(path.read_text())
        cases[one["case"]] = one
    growth = {_point(one): one for one in stored.get("growth", [])}
    lines = folder / "growth.jsonl"
    for line in lines.read_text().splitlines() if lines.exists() else ():
        one = json.loads(line)
        growth[_point(one)] = one
    results.mkdir(parents=True, exist_ok=True)
    parts = {"cases": list(cases.values()), "growth": list(growth.values())}
    text = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(one) for one in rows) + "\n]"
        for name, rows in parts.items()
    )
    file.write_text(f"{{{text}}}\n")


def _point(one: dict) -> tuple:
    return tuple(one[k] for k in ("curve", "samples", "parameters", "outputs"))


def write(results: Path, page: Path) -> None:
    """Replace the section between the markers, or append one; draw the figure."""
    stored = json.loads((results / "gpu.json").read_text())
    slopes = draw(stored, page.parent / "images" / "growth.png")
    section = f"{BEGIN}\n{markdown(stored, slopes)}\n{END}"
    text = page.read_text() if page.exists() else "# Benchmarks\n"
    if BEGIN in text and END in text:
        before, rest = text.split(BEGIN, 1)
        text = before + section + rest.split(END, 1)[1]
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    page.write_text(text)


def markdown(stored: dict, slopes: dict[str, float]) -> str:
    """The section: what was measured, the table, the figure."""
    cases = stored["cases"]
    device = f"{cases[0]['device']}, jax {cases[0]['jax']}"
    rates = cases[0]["rates"]
    rows = [_row(one) for name in _TARGETS for one in cases if one["case"] == name]
    missing = [name for name in _TARGETS if name not in {one["case"] for one in cases}]
    unmeasured = f"\n\nNot measured yet: {'; '.join(missing)}." if missing else ""
    grown = ", ".join(f"{curve} {slope:.2f}" for curve, slope in slopes.items())
    return f"""## On one GPU: all of CIFAR-10

{device}; 60,000 real images, one logit, from the call to the finished matrix on the
device. *Seconds* is the fastest call after the first, or the first where there was but
one. *Compiling* is the time in which JAX traced and compiled, some of it beside the
work; in runs that did not ask for it, the first call less the fastest. *Error* is the
relative Frobenius distance of a block of 512 images from the same block with all
products in float32. The *floor* is the larger of two: the counted multiply-adds of the
cheapest exact form over one triangle, and one run of the network, at the rates of large
products measured in the same process (here bfloat16 {2e-12 * rates["bfloat16"]:.0f},
float32 {2e-12 * rates["float32"]:.0f} TFLOP/s); and the bytes that have to move, at the
measured bandwidth ({1e-12 * rates["bytes"]:.1f} TB/s).

{_COLUMNS}
{chr(10).join(rows)}{unmeasured}

![Time against samples, parameters and outputs](images/growth.png)

Slopes of the dashed lines, fitted to the largest half of each curve: {grown}. A slope
below 2 in the samples says that the fixed cost of a call (0.1 s, 0.7 for a ResNet18:
checking the network, planning, starting) still shows. `make bench-gpu` measures it all
again."""


def _row(one: dict) -> str:
    first, *later = one["seconds"]
    seconds = min(later, default=first)
    apart = one.get("compiling", [first - seconds])[0]
    compiling = f"{apart:.1f} s" if apart else "in the call"
    arithmetic, traffic = one["floor"]["arithmetic"], one["floor"]["traffic"]
    limit, error = _TARGETS[one["case"]]
    target = f"{limit} s" + (f" at {error:g}" if error else "")
    device = one["device_peak"]
    memory = f"{device / 1e9:.0f} GB, " if device else ""
    return (
        f"| {one['case']} | **{seconds:.2f}** | {compiling} | {one['error']:.1e} | "
        f"{memory}{one['host_peak'] / 1e9:.0f} GB | {arithmetic:.2f}, {traffic:.2f} s "
        f"| {seconds / max(arithmetic, traffic):.2f} | {target} |"
    )
