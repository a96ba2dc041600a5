"""What is measured: networks on all 60,000 images of CIFAR-10, one logit."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import tangentlab as tl


@dataclass(frozen=True)
class Case:
    """One computation.

    Attributes:
        name: Its name.
        model: Name of the network in `tl.models`.
        options: Its options.
        precision: Of the products.
        calls: How often it is computed; the first call compiles.
    """

    name: str
    model: str
    options: dict[str, Any]
    precision: Literal["float32", "high", "fast"]
    calls: int = 2

    def build(self) -> tl.Model:
        """The network."""
        return getattr(tl.models, self.model)(**self.options)


_ACTIVE = {"last_scale": 1.0}

CASES = {
    case.name: case
    for case in (
        Case("ResNet18, all parameters active, fast", "resnet18", _ACTIVE, "fast"),
        Case("ResNet18, all parameters active, high", "resnet18", _ACTIVE, "high", 1),
        Case("ResNet18 as published, high", "resnet18", {}, "high"),
        Case("LeNet, float32", "lenet", {}, "float32", 4),
        Case("MLP, float32", "mlp", {}, "float32", 4),
    )
}


def images(num: int | None = None) -> np.ndarray:
    """All images of CIFAR-10, normalized, or the first of them."""
    data = tl.data.normalize(tl.data.load("cifar10"))
    return np.asarray(data.x[:num], np.float32)
