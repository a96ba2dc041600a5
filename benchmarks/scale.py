"""`python -m benchmarks.scale`: a plan for a million samples, without computing it.

Times of one GPU come from `results/gpu.json`: a Gram matrix of n samples took a + b n +
c n^2 seconds, of which b n is the network and c n^2 the products of one triangle. A
tile off the diagonal runs the network on 2 s samples and multiplies s^2 pairs, twice as
many as a triangle of side s has. A worker reads inputs first, and times add up, as if
it did not write while it computes. Prints the table, and writes it to
`docs/scale.md`.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

from benchmarks.sections import write_section

RESULTS = Path(__file__).parent / "results" / "gpu.json"
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
N, GPUS, MOST = 1_000_000, 64, 16_384
SIDE = math.ceil(N / math.ceil(N / MOST))  # panels of equal length, as the planner cuts
SAMPLE_BYTES = 32 * 32 * 3 * 4
WRITE, READ = 10e9, 20e9  # bytes a second of a parallel file system, for all workers
HASH = 1.5e9  # bytes a second of SHA-256 on one core with the instructions for it
MESSAGE = 3000  # bytes of a unit and its answer
HEARTBEAT = 2000  # bytes a second and worker


class Rates(NamedTuple):
    """What one GPU takes.

    Attributes:
        name: The case.
        start: Seconds of every call.
        network: Seconds a sample.
        products: Seconds a squared sample, one triangle.
    """

    name: str
    start: float
    network: float
    products: float


class Plan(NamedTuple):
    """What a case costs; times in seconds."""

    tiles: int
    tile: float
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
    """Rates from two sizes of a case.

    Returns:
        A network of 11 million parameters, and one of 136,000.
    """
    stored = json.loads(RESULTS.read_text())
    growth = stored["growth"]
    whole = {case["case"]: min(case["seconds"]) for case in stored["cases"]}
    lenet, resnet = (
        {
            g["samples"]: min(g["seconds"])
            for g in growth
            if g["curve"].startswith(network) and g["parameters"] == parameters
        }
        for network, parameters in (("LeNet", 136_121), ("ResNet18", 11_169_345))
    )
    large = whole["ResNet18, all parameters active, fast"]
    return [
        _fit(
            "ResNet18, all parameters active, fast",
            0.0,
            {8000: resnet[8000], 60000: large},
        ),
        _fit("LeNet, float32", lenet[1000], {n: lenet[n] for n in (16000, 60000)}),
    ]


def _fit(name: str, start: float, seconds: dict[int, float]) -> Rates:
    (n, t), (m, u) = ((size, time - start) for size, time in sorted(seconds.items()))
    products = (u - t * m / n) / (m**2 - n * m)
    return Rates(name, start, (t - products * n**2) / n, products)


def plan(rates: Rates) -> Plan:
    """The plan of a case.

    Args:
        rates: What one GPU takes.

    Returns:
        Times and bytes.
    """
    panels = math.ceil(N / SIDE)
    tiles = panels * (panels + 1) // 2
    tile = rates.start + rates.network * 2 * SIDE + 2 * rates.products * SIDE**2
    each = SIDE**2 * 4
    stored = tiles * each
    return Plan(
        tiles,
        tile,
        tiles * tile,
        math.ceil(tiles / GPUS) * tile,
        stored,
        stored / WRITE,
        math.ceil(tiles / GPUS) * each / HASH,
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
        ("network, ms a sample", [f"{r.network * 1e3:.3g}" for r, _ in cases]),
        ("products, s for 10^9 pairs", [f"{2e9 * r.products:.3g}" for r, _ in cases]),
        (f"one tile of {SIDE:,}, s", [f"{p.tile:.3g}" for _, p in cases]),
        ("tiles", [f"{p.tiles:,}" for _, p in cases]),
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
