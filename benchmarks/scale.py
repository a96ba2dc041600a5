"""`python -m benchmarks.scale`: a plan for a million samples, without computing it.

Times of tiles on one GPU come from `results/tiles.json` (`benchmarks.gpu.tiles`): a
tile takes so long, and each run of the network on a panel so much more. A worker keeps
what the network leaves of a strip of panels along the rows while panels along the
columns go by. It reads inputs first, and times add up, as if it did not write while it
computes. Prints the table, and writes it to `docs/scale.md`.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

from benchmarks.sections import write_section

RESULTS = Path(__file__).parent / "results" / "tiles.json"
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
N, GPUS = 1_000_000, 64
SAMPLE_BYTES = 32 * 32 * 3 * 4
WRITE, READ = 10e9, 20e9  # bytes a second of a parallel file system, for all workers
HASH = 1.5e9  # bytes a second of SHA-256 on one core with the instructions for it
MESSAGE = 3000  # bytes of a unit and its answer
HEARTBEAT = 2000  # bytes a second and worker


class Rates(NamedTuple):
    """What one GPU takes.

    Attributes:
        name: The case.
        side: Samples in a panel.
        kept: Panels whose factors fit its memory beside one that goes by.
        network: Seconds of the network on a panel.
        tile: Seconds of a tile whose factors are there.
    """

    name: str
    side: int
    kept: int
    network: float
    tile: float


class Plan(NamedTuple):
    """What a case costs; times in seconds."""

    panels: int
    strip: int
    runs: int
    tiles: int
    gpu: float
    compute: float
    stored: float
    write: float
    seal: float
    read: float
    messages: float

    @property
    def parts(self) -> dict[str, float]:
        """Seconds of what a worker does one after the other."""
        return {
            "reading inputs": self.read,
            "computing": self.compute,
            "sealing tiles": self.seal,
            "writing tiles": self.write,
        }

    @property
    def wall(self) -> float:
        """Seconds until all is done."""
        return sum(self.parts.values())

    @property
    def binds(self) -> str:
        """What takes longest."""
        return max(self.parts, key=self.parts.__getitem__)

    @property
    def moved(self) -> float:
        """Bytes to and from the file system, and between processes."""
        heartbeats = HEARTBEAT * GPUS * self.wall
        inputs = GPUS * N * SAMPLE_BYTES
        return self.stored + inputs + self.messages + heartbeats


def measured() -> list[Rates]:
    """What was measured.

    Returns:
        A network of 11 million parameters, and one of 136,000.
    """
    rates = []
    for line in json.loads(RESULTS.read_text()):
        both, none = line["seconds"]["2"], line["seconds"]["0"]
        sizes = line["side"], line["kept"]
        rates.append(Rates(line["case"], *sizes, (both - none) / 2, none))
    return rates


def plan(rates: Rates) -> Plan:
    """The plan of a case.

    Args:
        rates: What one GPU takes.

    Returns:
        Times and bytes.
    """
    panels = math.ceil(N / rates.side)
    tiles = panels * (panels + 1) // 2
    strip = min(rates.kept, math.ceil(panels / GPUS))  # else some have none
    runs = sum(min(first + strip, panels) for first in range(0, panels, strip))
    gpu = tiles * rates.tile + runs * rates.network
    each = rates.side**2 * 4
    most = math.ceil(tiles / GPUS)
    return Plan(
        panels,
        strip,
        runs,
        tiles,
        gpu,
        most * gpu / tiles,
        tiles * each,
        tiles * each / WRITE,
        most * each / HASH,
        GPUS * N * SAMPLE_BYTES / READ + N * SAMPLE_BYTES / HASH,
        tiles * MESSAGE,
    )


def table() -> str:
    """Every line of the arithmetic.

    Returns:
        A table in Markdown.
    """
    cases = [(rates, plan(rates)) for rates in measured()]
    rows: list[tuple[str, list[str]]] = [
        ("samples in a panel", [f"{r.side:,}" for r, _ in cases]),
        ("panels", [f"{p.panels:,}" for _, p in cases]),
        ("of which a worker keeps", [f"{p.strip:,}" for _, p in cases]),
        ("tiles", [f"{p.tiles:,}" for _, p in cases]),
        ("one tile, s", [f"{r.tile:.3g}" for r, _ in cases]),
        ("runs of the network on a panel", [f"{p.runs:,}" for _, p in cases]),
        ("one run, s", [f"{r.network:.3g}" for r, _ in cases]),
        ("GPU hours", [f"{p.gpu / 3600:.3g}" for _, p in cases]),
        (f"computing on {GPUS}, s", [f"{p.compute:,.0f}" for _, p in cases]),
        ("tiles on disk, TB", [f"{p.stored / 1e12:.3g}" for _, p in cases]),
        ("writing them, s", [f"{p.write:,.0f}" for _, p in cases]),
        ("sealing them, s a worker", [f"{p.seal:,.0f}" for _, p in cases]),
        (
            "inputs read by all workers, TB",
            [f"{GPUS * N * SAMPLE_BYTES / 1e12:.3g}" for _ in cases],
        ),
        ("reading and hashing them, s", [f"{p.read:,.0f}" for _, p in cases]),
        ("messages of units, MB", [f"{p.messages / 1e6:.3g}" for _, p in cases]),
        ("moved in all, TB", [f"{p.moved / 1e12:.3g}" for _, p in cases]),
        ("what binds", [p.binds for _, p in cases]),
        ("**hours in all**", [f"**{p.wall / 3600:.2g}**" for _, p in cases]),
    ]
    lines = ["| | " + " | ".join(r.name for r, _ in cases) + " |", "|---|---|---|"]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
    write_section(PAGE, "scale-plan", table())
