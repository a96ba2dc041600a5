"""The paper's own sizes on one large GPU, the most telling runs first.

`seconds` are for one initialization, what it took on one H200 with two or three other
processes beside it; alone it takes a third to all of that. A verdict takes five of MLP
and LeNet and three of ResNet18, so that all runs have as many.

Runs are ordered so that later ones find what earlier ones left: CIFAR2 and the tasks of
`eigenfunctions` are trained once.
"""

import dataclasses
from typing import Any

from ...experiments.alignment import Alignment
from ...experiments.eigenfunctions import Eigenfunctions
from ...experiments.identities import Identities
from ...experiments.nads import NadStudy
from ...experiments.pretrained import Pretrained
from ...experiments.rotation import Rotation
from ...experiments.self_reference import SelfReference
from ...experiments.sizes import Sizes
from ...models import ModelName
from ...training import Recipe
from ..scales import Run, Runs

TWENTY = (
    *(9, 11, 14, 18, 23, 29, 37, 47, 60, 76),
    *(96, 121, 154, 195, 247, 312, 396, 501, 634, 799),
)
"""Evenly spread on a log scale, as far as a thousand modes hold all neighbors."""
_BETWEEN = (
    *(6, 10, 12, 16, 20, 26, 33, 42, 53, 68),
    *(85, 108, 136, 173, 219, 277, 351, 445, 563, 711),
)
_FORTY_FOUR = tuple(sorted((0, 1, 2, 4, *TWENTY, *_BETWEEN)))
_FIVE = (14, 47, 96, 195, 501)
"""Of a ResNet18, which takes three minutes for one task."""
_MNIST = (
    *(2, 4, 9, 14, 19, 34, 49, 74, 99, 124, 149),
    *(199, 249, 299, 349, 399, 499, 599, 699, 799, 899, 999),
)
"""Four at each end far from the crossing at 500, and nine around it."""
_RATES = (1e-4, 3e-4, 1e-3, 3e-3)
_LEARNING = ("D1", "D2", "D3", "D9", "D20", "D21", "D46", "D47")
_SEEDS = {"mlp": 5, "lenet": 5, "resnet18": 3}
_PERMUTATIONS = 1000
"""Of one initialization alone 200 would be too few for six numbers together."""


def _run(config: Any, claims: tuple[str, ...], seconds: int) -> Run:
    """A run with as many initializations as a verdict takes; seconds are of one."""
    seeds = _SEEDS[config.model]
    config = dataclasses.replace(config, seeds=seeds)
    return Run(_NAMES[type(config)], config, claims, seconds * seeds, seeds)


_NAMES = {
    Alignment: "alignment",
    Eigenfunctions: "eigenfunctions",
    NadStudy: "nads",
    Pretrained: "pretrained",
    Rotation: "rotation",
    SelfReference: "self_reference",
    Sizes: "sizes",
}


def _table(model: ModelName, seconds: int, **options: Any) -> Run:
    options = {"num_permutations": _PERMUTATIONS, **options}
    config = Alignment(data="cifar10", model=model, **options)
    return _run(config, ("D7", "D8", "D11"), seconds)


def _learning(
    model: ModelName, claims: tuple[str, ...], seconds: int, **options: Any
) -> Run:
    options = {"data": "cifar10", "model": model, **options}
    return _run(Eigenfunctions(**options), claims, seconds)


def _adam(model: ModelName, seconds: int) -> Run:
    recipe = Recipe(optimizer="adam")
    options = {"indices": (4, 6, *TWENTY), "recipe": recipe, "rates": _RATES}
    return _learning(model, ("D4",), seconds, reference_epochs=0, **options)


def _after(
    model: ModelName, turning: int, comparing: int, **options: Any
) -> tuple[Run, Run]:
    options = {"data": "cifar10", "model": model, "indices": TWENTY, **options}
    return (
        _run(Rotation(**options), ("D10",), turning),
        _run(Pretrained(**options), ("D12", "D13"), comparing),
    )


def _sizes(
    model: ModelName, claims: tuple[str, ...], seconds: int, **options: Any
) -> Run:
    return _run(Sizes(data="cifar10", model=model, **options), claims, seconds)


_MAIN: dict[str, Any] = {"indices": _FORTY_FOUR, "reference_epochs": 200}
_WHOLE: dict[str, Any] = {"sizes": (50_000,), "indices": (), "long_epochs": 400}
_PARTS: dict[str, Any] = {"sizes": (500, 2_000, 10_000), "long_epochs": 0}
_RESNET18: dict[str, Any] = {"model": "resnet18", "data": "cifar10"}

_MNIST_AND_DIRECTIONS = (
    _learning("mlp", ("D5",), 52, data="mnist", indices=_MNIST),
    _learning("lenet", ("D5",), 88, data="mnist", indices=_MNIST),
    _run(NadStudy(), ("D18", "D19"), 303),
    _run(
        NadStudy(
            model="resnet18",
            num_average=64,
            precision="high",
        ),
        ("D18", "D19"),
        1350,
    ),
)
_SMALL_NETWORKS = (
    _table("mlp", 68),
    _table("lenet", 142),
    _learning("lenet", _LEARNING, 134, **_MAIN),
    *_after("lenet", 137, 150),
    _learning("mlp", _LEARNING, 86, **_MAIN),
    *_after("mlp", 102, 160),
    _run(
        SelfReference(
            data="cifar10",
            model="lenet",
            indices=(14, 37, 76, 154, 312, 634),
        ),
        ("E12",),
        95,
    ),
    _adam("mlp", 200),
    _sizes("mlp", ("D14",), 55, **_PARTS),
    _sizes("mlp", ("D6",), 30, **_WHOLE),
    _sizes("lenet", ("D6",), 30, **_WHOLE),
    _sizes("lenet", ("D14",), 56, **_PARTS),
    _adam("lenet", 460),
)
_LARGE_NETWORK = (
    _run(
        Alignment(
            **_RESNET18,
            train_on=("all",),
            measure_at=(1, 5, 20, 50, 100),
            num_permutations=_PERMUTATIONS,
            precision="fast",
        ),
        ("D7", "D8", "D11"),  # small networks tell that Table 1 is of all samples
        690,
    ),
    _run(
        Alignment(
            **_RESNET18,
            train_on=("subset",),
            measure_at=(1, 5, 20, 50),
            num_permutations=_PERMUTATIONS,
            precision="fast",
        ),
        ("D11",),
        220,
    ),
    _run(
        Eigenfunctions(
            **_RESNET18,
            indices=_FIVE,
            reference_epochs=200,
        ),
        ("D3", "D20", "D21", "D47"),
        1220,
    ),
    *_after(  # of networks of the run before; all parameters have woken up
        "resnet18",
        170,
        370,
        indices=_FIVE,
        trained_precision="fast",
    ),
    _sizes(  # networks of runs before, and longer linear ones
        "resnet18", ("D6",), 62, precision="high", **_WHOLE
    ),
)
_EXACT = Run(
    "identities",
    Identities(
        data="cifar10",
        model="lenet",
        num_samples=1000,
        num_images=1000,
        seeds=5,
    ),
    ("D15", "D16", "D17", "D22", "D23"),
    1200,  # on a CPU, one core
    beside=("resnet18",),
)

RUNS: Runs = {
    "gpu": (*_MNIST_AND_DIRECTIONS, *_SMALL_NETWORKS, *_LARGE_NETWORK, _EXACT)
}
"""What the paper's figures and tables take."""
