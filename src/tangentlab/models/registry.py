"""The zoo by name, for the command line."""

from collections.abc import Callable
from typing import Any, Literal

from .._checks import check_known
from .activations import Activation
from .model import Model
from .zoo import lenet, mlp, resnet18

ModelName = Literal["mlp", "lenet", "resnet18"]

BUILDERS: dict[str, Callable[..., Model]] = {
    "mlp": mlp,
    "lenet": lenet,
    "resnet18": resnet18,
}


def build(
    name: ModelName,
    input_shape: tuple[int, ...] = (32, 32, 3),
    *,
    activation: Activation = "relu",
    num_outputs: int = 1,
    last_scale: float = 0.0,
) -> Model:
    """Build a network of the zoo at its published size.

    Args:
        name: Which one.
        input_shape: Shape of one sample.
        activation: Name of the activation.
        num_outputs: Number of logits.
        last_scale: Initial scale of the last batch norm of each block, of a resnet18
            alone.

    Returns:
        The model.

    Raises:
        ValueError: If there is no such network, or a scale for one without batch norm.
    """
    check_known("model", name, BUILDERS)
    options: dict[str, Any] = {"activation": activation, "num_outputs": num_outputs}
    if name == "resnet18":
        options["last_scale"] = last_scale
    elif last_scale:
        raise ValueError(
            f"last_scale is the scale of a batch norm, of which {name} has none: leave "
            f"it at 0, got {last_scale:g}."
        )
    return BUILDERS[name](input_shape, **options)
