"""What measures the kernel along training, D7, D8 and D11, and after it, D10 to D13."""

from typing import Any

from ...experiments.alignment import Alignment
from ...experiments.pretrained import Pretrained
from ...experiments.rotation import Rotation
from ...models import ModelName
from ...training import Recipe
from ..scales import Run, Runs

_SMOKE: dict[str, Any] = {
    "num_samples": 600,
    "indices": (9, 19, 40, 80, 120, 160),
    "recipe": Recipe(epochs=40, batch_size=64),
}
_LAPTOP: dict[str, Any] = {
    "data": "cifar10",
    "num_samples": 3000,
    "num_test": 600,
    "indices": (9, 14, 24, 49, 74, 99, 149, 249),
    "seeds": 5,
    "recipe": Recipe(epochs=60),
}


def _watched(model: ModelName, *claims: str, **options: Any) -> Run:
    config = Alignment(data="cifar10", model=model, **options)
    return Run("alignment", config, claims)


def _after(options: dict[str, Any]) -> tuple[Run, Run]:
    return (
        Run("rotation", Rotation(**options), ("D10",)),
        Run("pretrained", Pretrained(**options), ("D12", "D13")),
    )


RUNS: Runs = {
    "smoke": (
        Run(
            "alignment",
            Alignment(
                num_samples=900,
                kernel_samples=400,
                train_on=("all",),
                recipe=Recipe(epochs=30, batch_size=64),
            ),
            ("D11",),
        ),
        *_after(_SMOKE),
    ),
    "laptop": (
        _watched(
            "mlp",
            "D11",
            num_samples=6000,
            kernel_samples=2000,
            seeds=5,
            recipe=Recipe(epochs=100),
        ),
        _watched(
            "lenet",
            "D11",
            num_samples=3600,
            kernel_samples=1000,
            train_on=("all",),
            seeds=5,
            recipe=Recipe(epochs=60),
        ),
        *_after(_LAPTOP),
    ),
}
"""Small data; `paper_sizes` has the rest."""
