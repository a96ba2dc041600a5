"""What measures claims about learning eigenfunctions: D1 to D5, D9, D20, D21, D46, D47.

And E12, our own question: whether the linear advantage is self-reference.
"""

from typing import Any

from ...experiments.eigenfunctions import Eigenfunctions
from ...experiments.self_reference import SelfReference
from ...models import ModelName
from ...training import Recipe
from ..scales import Run, Runs

_MAIN = ("D1", "D2", "D3", "D9", "D20", "D21", "D46", "D47")
_ADAM_RATES = (3e-4, 1e-3, 3e-3)
_MNIST = (
    *(0, 1, 2, 4, 6, 9, 14, 19, 29, 49, 74, 99, 149),
    *(199, 249, 299, 349, 399, 499, 599, 699, 799, 899, 999),
)
"""Sixteen around the crossing at 500 and four at each end far from it."""
_OTHERS = (10, 14, 24, 49, 99, 199, 349, 499)
_CIFAR10: dict[str, Any] = {"data": "cifar10", "reference_epochs": 0}


def _main(model: ModelName, **options: Any) -> Run:
    options = {**_CIFAR10, "model": model, "seeds": 5, **options}
    return Run("eigenfunctions", Eigenfunctions(**options), _MAIN)


def _adam(model: ModelName, *, epochs: int, **options: Any) -> Run:
    recipe = Recipe(epochs=epochs, optimizer="adam")
    options = {**_CIFAR10, "model": model, "seeds": 5, **options}
    return Run("eigenfunctions", Eigenfunctions(recipe=recipe, **options), ("D4",))


def _mnist(model: ModelName, indices: tuple[int, ...], **options: Any) -> Run:
    config = Eigenfunctions(
        data="mnist", model=model, indices=indices, seeds=5, **options
    )
    return Run("eigenfunctions", config, ("D5",))


def _sources(model: ModelName, **options: Any) -> Run:
    options = {"data": "cifar10", "model": model, "seeds": 5, **options}
    return Run("self_reference", SelfReference(**options), ("E12",))


_DIGITS: dict[str, Any] = {"data": "digits", "num_samples": 600, "num_test": 150}
_SUBSET: dict[str, Any] = {"num_samples": 3000, "num_test": 600}
_SMALL: dict[str, Any] = {"num_samples": 2000, "num_test": 400}

RUNS: Runs = {
    "smoke": (
        _main(
            "mlp",
            **_DIGITS,
            num_indices=44,
            seeds=1,
            recipe=Recipe(epochs=30, batch_size=64),
        ),
        _adam("mlp", **_DIGITS, num_indices=44, seeds=1, epochs=15),
        _sources(
            "mlp",
            data="digits",
            num_samples=400,
            num_test=120,
            indices=(10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60, 72),
            seeds=1,
            recipe=Recipe(epochs=20, batch_size=64),
        ),
    ),
    "laptop": (
        _main("mlp", **_SUBSET, num_indices=32, recipe=Recipe(epochs=60)),
        _main("lenet", **_SMALL, num_indices=22, recipe=Recipe(epochs=30)),
        _adam("mlp", **_SMALL, num_indices=24, rates=_ADAM_RATES, epochs=30),
        _mnist("mlp", _MNIST, **_SUBSET, recipe=Recipe(epochs=40)),
        _mnist("lenet", _MNIST[3:], **_SMALL, recipe=Recipe(epochs=30)),
        _sources("mlp", **_SMALL, indices=_OTHERS, recipe=Recipe(epochs=40)),
        _sources("lenet", **_SMALL, indices=_OTHERS[::2], recipe=Recipe(epochs=20)),
    ),
}
"""Small data; `paper_sizes` has the rest."""
