"""The zoo by name, for the command line."""

from collections.abc import Callable
from typing import Literal

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
) -> Model:
    """Build a network of the zoo at its published size.

    Args:
        name: Which one.
        input_shape: Shape of one sample.
        activation: Name of the activation.
        num_outputs: Number of logits.

    Returns:
        The model.
    """
    check_known("model", name, BUILDERS)
    return BUILDERS[name](input_shape, activation=activation, num_outputs=num_outputs)
