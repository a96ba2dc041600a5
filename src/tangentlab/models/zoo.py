"""The paper's networks: MLP, LeNet and ResNet18.

All have LeCun-normal weights, zero biases, the standard parameterization and
single-precision parameters; cast parameters and inputs to compute in another precision.

>>> import jax
>>> import jax.numpy as jnp
>>> model = mlp((8, 8, 1), widths=(16,), num_outputs=10)
>>> params = model.init(jax.random.key(0))
>>> model.apply(params, jnp.zeros((5, 8, 8, 1), jnp.float32)).shape
(5, 10)
"""

from collections.abc import Iterable
from numbers import Integral

from .activations import Activation, activation_function
from .adapters.linen import from_flax
from .model import Model


def mlp(
    input_shape: tuple[int, ...] = (32, 32, 3),
    *,
    activation: Activation = "relu",
    num_outputs: int = 1,
    widths: tuple[int, ...] = (100, 100),
) -> Model:
    """A fully connected network with biases; inputs are flattened.

    Args:
        input_shape: Shape of one sample.
        activation: Name of the activation.
        num_outputs: Number of logits.
        widths: Units of each hidden layer, at least one.

    Returns:
        The model: 317,501 parameters on CIFAR-10, 88,701 on MNIST.

    Raises:
        ValueError: If a size is not a positive integer, or there is no hidden layer.
    """
    from ._linen.mlp import MLP

    _check_sizes(input_shape=input_shape, num_outputs=(num_outputs,), widths=widths)
    if not widths:
        raise ValueError(
            "`widths` must hold at least one hidden layer, as in (100,), got ()."
        )
    module = MLP(widths, num_outputs, activation_function(activation))
    return from_flax(module, input_shape, name="mlp")


def lenet(
    input_shape: tuple[int, ...] = (32, 32, 3),
    *,
    activation: Activation = "relu",
    num_outputs: int = 1,
    widths: tuple[int, int, int, int] = (6, 16, 120, 84),
) -> Model:
    """LeNet with SAME padding and average pooling, not the network of 1998.

    Args:
        input_shape: Height, width and channels of one image, at least 4 x 4.
        activation: Name of the activation.
        num_outputs: Number of logits.
        widths: Channels of both convolutions, then units of both hidden dense layers.

    Returns:
        The model: 136,121 parameters on CIFAR-10, 107,021 on MNIST.

    Raises:
        ValueError: If a size is not a positive integer, there are not four widths, or
            samples are not images of at least 4 x 4 pixels.
    """
    from ._linen.lenet import LeNet

    _check_sizes(input_shape=input_shape, num_outputs=(num_outputs,), widths=widths)
    _check_image(input_shape, smallest=4)
    if len(widths) != 4:
        raise ValueError(
            "`widths` must be four numbers, for two convolutions and two dense layers, "
            f"as in (6, 16, 120, 84), got {widths}."
        )
    module = LeNet(widths, num_outputs, activation_function(activation))
    return from_flax(module, input_shape, name="lenet")


def resnet18(
    input_shape: tuple[int, ...] = (32, 32, 3),
    *,
    activation: Activation = "relu",
    num_outputs: int = 1,
    width: int = 64,
    last_scale: float = 0.0,
) -> Model:
    """ResNet18 for small images, with batch normalization.

    With `last_scale=0` every residual branch is silent at initialization: nothing
    inside it has a gradient, and at most 180,033 parameters carry the kernel. With ReLU
    on few images it is a few less, because some channels are off on all of them.

    Args:
        input_shape: Height, width and channels of one image.
        activation: Name of the activation.
        num_outputs: Number of logits.
        width: Channels of the first stage; the others have 2, 4 and 8 times as many.
        last_scale: Initial scale of the last batch norm of each block: 0 as
            published, 1 as an ablation.

    Returns:
        The model: 11,169,345 parameters on CIFAR-10, 11,168,193 with one channel.
    """
    from ._linen.resnet import ResNet18

    _check_sizes(input_shape=input_shape, num_outputs=(num_outputs,), width=(width,))
    _check_image(input_shape, smallest=1)
    module = ResNet18(width, num_outputs, activation_function(activation), last_scale)
    return from_flax(
        module,
        input_shape,
        eval_kwargs={"train": False},
        train_kwargs={"train": True},
        name="resnet18",
    )


def _check_sizes(**sizes: tuple[int, ...]) -> None:
    for name, values in sizes.items():
        if not isinstance(values, Iterable):
            raise ValueError(
                f"`{name}` must be several positive integers, got {values!r}: pass a "
                "tuple, such as (32, 32, 3)."
            )
        if not all(isinstance(value, Integral) and value > 0 for value in values):
            raise ValueError(f"`{name}` must be positive integers, got {values}.")


def _check_image(input_shape: tuple[int, ...], smallest: int) -> None:
    if len(input_shape) != 3 or min(input_shape[:2]) < smallest:
        raise ValueError(
            "`input_shape` must be (height, width, channels) of an image of at least "
            f"{smallest} x {smallest} pixels, got {input_shape}."
        )
