"""Results of `benchmarks.infinite` and `.infinite_accuracy`, and their sections."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.sections import write_section

_PLACE = Path(__file__).parent
SPEEDS = _PLACE / "results" / "infinite.json"
ACCURACIES = _PLACE / "results" / "infinite_accuracy.json"
PAGE = _PLACE.parent / "docs" / "benchmarks.md"

_NAMES = {
    "fc": "FC, 3 hidden layers",
    "cntk": "3 convolutions, global average pooling",
    "myrtle5": "Myrtle-5",
    "myrtle10": "Myrtle-10",
}
_WANTED = 3  # times as fast as neural-tangents on a CPU
_CIFAR = 60_000
_PUBLISHED_HOURS = {"myrtle5": 316, "myrtle10": 508}  # neural-tangents, V100, float64
_PUBLISHED = {("fc", "nngp", 1000): 36.08, ("fc", "nngp", 10_000): 47.80}

Line = dict[str, Any]


def keep(found: Iterable[Line], file: Path, by: tuple[str, ...]) -> None:
    """Put new measurements in the place of stored ones of the same case.

    Args:
        found: New measurements.
        file: Where they are stored.
        by: What makes a case.
    """
    stored = json.loads(file.read_text()) if file.exists() else []
    cases = {tuple(line[name] for name in by): line for line in [*stored, *found]}
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(cases[case]) for case in sorted(cases))
    file.write_text(f"[\n{lines}\n]\n")


def write_speeds(file: Path, page: Path) -> None:
    """Renew the section on speed.

    Args:
        file: The measurements.
        page: The page.
    """
    lines = json.loads(file.read_text()) if file.exists() else []
    parts = [_SPEED, _beside([line for line in lines if line["device"] == "CPU"])]
    parts.append(_projected([line for line in lines if line["device"] != "CPU"]))
    write_section(page, "bench-infinite", "\n\n".join(parts))


def write_accuracies(file: Path, page: Path) -> None:
    """Renew the section on accuracy.

    Args:
        file: The measurements.
        page: The page.
    """
    lines = json.loads(file.read_text()) if file.exists() else []
    lines.sort(key=lambda line: (line["network"], line["kind"], line["n"]))
    rows = []
    for line in lines:
        share, count = line["accuracy"], line["num_test"]
        error = math.sqrt(share * (1 - share) / count)
        published = _PUBLISHED.get((line["network"], line["kind"], line["n"]))
        cells = [
            f"{_ACCURATE[line['network']]}, {line['kind'].upper()}",
            f"{line['n']:,}",
            f"**{100 * share:.1f}** ± {100 * error:.1f}",
            "" if published is None else f"{published:.1f}",
            f"{count:,}",
            f"{line['ridge']:.0e}",
            line["device"],
        ]
        rows.append(_row(cells))
    head = ["kernel", "training images", "accuracy, %", "published", "test images"]
    table = [_row([*head, "ridge", "device"]), "|---" * 7 + "|", *rows]
    text = "\n".join([_ACCURACY, "", *table])
    write_section(page, "bench-infinite-accuracy", text)


def _beside(lines: list[Line]) -> str:
    """Both libraries on a CPU."""
    title = "### On the CPU, 2 cores, beside neural-tangents"
    if not lines:
        return f"{title}\n\nNot measured yet."
    head = ["network", "n", "ours", "neural-tangents", "times faster", "wanted"]
    table = [_row([*head, "error, ours", "neural-tangents"]), "|---" * 8 + "|"]
    found = {(line["case"], line["n"], line["who"]): line for line in lines}
    for case, n in dict.fromkeys((case, n) for case, n, who in found if who == "ours"):
        ours, peer = (found.get((case, n, w)) for w in ("ours", "neural-tangents"))
        assert ours is not None
        cells = [_NAMES[case], f"{n:,}", f"**{min(ours['seconds']):.3g} s**"]
        if peer is None:
            cells += ["not measured", "", "", f"{ours['error']:.0e}", ""]
        else:
            best = min(peer["seconds"])
            cells += [f"{best:.3g} s", f"**{best / min(ours['seconds']):.1f}**"]
            cells += [f"{_WANTED}", f"{ours['error']:.0e}", f"{peer['error']:.0e}"]
        table.append(_row(cells))
    told = sorted({f"{line['who']} with jax {line['jax']}" for line in lines})
    times = sorted({line["when"] for line in lines})
    when = " to ".join(dict.fromkeys((times[0], times[-1])))
    return "\n".join([title, "", *table, "", f"Measured {when}: {'; '.join(told)}."])


def _projected(lines: list[Line]) -> str:
    """Pairs a second on an accelerator, and what all of CIFAR-10 would take."""
    title = "### On one GPU, float32"
    if not lines:
        hours = " and ".join(f"{hours}" for hours in _PUBLISHED_HOURS.values())
        known = f"neural-tangents publishes {hours} V100-hours in float64"
        what = "for Myrtle-5 and -10 on all 60,000 images of CIFAR-10"
        return f"{title}\n\nNot measured yet: `{_COMMAND}`.\n{known} {what}."
    head = ["network", "device", "n", "pairs a second", "all 60,000 images"]
    table = [_row([*head, "neural-tangents, published"]), "|---" * 6 + "|"]
    for line in lines:
        n, case = line["n"], line["case"]
        rate = n * (n + 1) / 2 / min(line["seconds"])
        hours = _CIFAR * (_CIFAR + 1) / 2 / rate / 3600
        published = _PUBLISHED_HOURS.get(case)
        cells = [_NAMES[case], line["device"], f"{n:,}", f"{rate:,.0f}"]
        cells += [f"**{hours:.3g} GPU-hours**, projected"]
        cells += [f"{published} V100-hours" if published else ""]
        table.append(_row(cells))
    return "\n".join([title, "", *table])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


_COMMAND = "python -m benchmarks.infinite --device --cases myrtle5 myrtle10"
_SPEED = """## Infinite width

Tangent kernels of wide networks on Gaussian inputs, 3,072 numbers or 32 x 32 x 3, in
float32, from the call to the finished matrix in host memory; neural-tangents 0.6.5
under `jit`. Each process is fresh, and both libraries take turns. *Seconds* is the
fastest call after the first, which compiles; where the first took minutes it is the
only one. *Error* is the largest of a few entries, relative to the largest entry,
against our kernel in float64, which agrees with that of neural-tangents to 1e-10.
`python -m benchmarks.infinite` measures it all again."""
_ACCURATE = {"fc": "FC", "myrtle5": "Myrtle-5", "myrtle10": "Myrtle-10"}
_ACCURACY = """## Accuracy of wide networks on CIFAR-10

Kernel regression on the first images of the training set, channels normalized, ten
centered one-hot targets. The ridge, in units of the mean of the diagonal, is the one
with the least leave-one-out error on the training images. ± is one standard error of
a share of so many test images. FC networks have ReLU and the depth and variances that
Lee et al. chose on validation images (7 hidden layers, variances 1.28 and 0 for 1,000
images; 5, 2.97 and 0.28 for more); *published* is their accuracy with the same kernel
on a draw of their own.

Elsewhere in the literature, in %: FC 55.7 with 45,000 images (Lee et al., "Deep neural
networks as Gaussian processes", ICLR 2018, table 1); convolutional tangent kernel of 14
layers 30.5 with 160 images, 36.6 with 320, 42.6 with 640, 48.9 with 1,280 (Arora et
al., "Harnessing the power of infinitely wide deep nets on small-data tasks", ICLR
2020); 77 with all 50,000 and global average pooling (Arora et al., "On exact
computation with an infinitely wide neural net", NeurIPS 2019); 90 with the best kernel
of a Myrtle architecture (Shankar et al., "Neural kernels without tangents", ICML 2020).
`python -m benchmarks.infinite_accuracy` measures it again; a Myrtle kernel of 10,000
images needs a GPU (`--networks myrtle5`), and goes on from its tiles."""
