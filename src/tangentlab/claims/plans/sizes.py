"""What measures claims about CIFAR2 and the training-set size: D6 and D14."""

from typing import Any

from ...experiments.sizes import Sizes
from ...models import ModelName
from ...training import Recipe
from ..scales import Run, Runs

_CLAIMS = ("D6", "D14")


def _sizes(model: ModelName, **options: Any) -> Run:
    options = {"data": "cifar10", "model": model, "seeds": 5, **options}
    return Run("sizes", Sizes(**options), _CLAIMS)


_SUBSETS: dict[str, Any] = {
    "sizes": (250, 500, 1000, 2000, 4000),
    "num_test": 1000,
    "recipe": Recipe(epochs=60),
    "cifar2_epochs": 60,
    "long_epochs": 300,
}
_FEWER: dict[str, Any] = {
    "sizes": (250, 500, 1000),
    "num_test": 1000,
    "indices": (9,),
    "recipe": Recipe(epochs=40),
    "cifar2_epochs": 40,
    "long_epochs": 150,
}
"""A LeNet takes several times as long as an MLP on a CPU."""

RUNS: Runs = {
    "smoke": (
        _sizes(
            "mlp",
            data="digits",
            sizes=(64, 512),
            num_test=200,
            indices=(9,),
            recipe=Recipe(epochs=20, batch_size=64),
            cifar2_epochs=20,
            long_epochs=100,
        ),
    ),
    "laptop": (_sizes("mlp", **_SUBSETS), _sizes("lenet", **_FEWER)),
}
"""Small data; `paper_sizes` has the rest."""
