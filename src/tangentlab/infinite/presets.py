"""Networks of the literature.

Weights have variance 2 over the fan-in where ReLU follows, so that neither signal nor
kernel vanishes with depth; in a residual network, where blocks add to what they get, 1.
"""

import math
from typing import Any

from .._checks import check_known
from .activations import Relu
from .branching import residual
from .combining import serial
from .conv import Conv
from .dense import Dense
from .layer import Layer
from .pooling import AvgPool, GlobalAvgPool
from .shaping import Flatten

_ROOT_2 = math.sqrt(2)
_MYRTLE = {5: (2, 1, 1), 7: (2, 2, 2), 10: (3, 3, 3)}


def fc(
    depth: int,
    width: int = 512,
    *,
    activation: Layer | None = None,
    weight_std: float = _ROOT_2,
    bias_std: float = 0.0,
    num_outputs: int = 1,
) -> Layer:
    """Fully connected network.

    Args:
        depth: Number of hidden layers.
        width: Of the hidden layers of the finite network.
        activation: The nonlinearity; ReLU by default.
        weight_std: Of the weights; those of the last layer have 1.
        bias_std: Of the biases.
        num_outputs: Number of outputs.

    Returns:
        The network, on inputs of any shape.

    Raises:
        ValueError: If there is no hidden layer.
    """
    _check_depth(depth)
    dense = Dense(width, weight_std=weight_std, bias_std=bias_std)
    hidden = [dense, activation or Relu()] * depth
    return serial(Flatten(), *hidden, Dense(num_outputs))


def cntk(
    depth: int,
    width: int = 128,
    *,
    activation: Layer | None = None,
    global_pool: bool = True,
    num_outputs: int = 1,
) -> Layer:
    """Convolutions of 3 x 3 with as many positions as pixels.

    Arora et al., "On exact computation with an infinitely wide neural net", NeurIPS
    2019 (arXiv:1904.11955), with global average pooling ("CNTK-GAP") or without.

    Args:
        depth: Number of convolutions.
        width: Their channels in the finite network.
        activation: The nonlinearity; ReLU by default.
        global_pool: Average over all positions at the end; else keep them apart, which
            is hundreds of times cheaper.
        num_outputs: Number of outputs.

    Returns:
        The network, on images.

    Raises:
        ValueError: If there is no convolution.
    """
    _check_depth(depth)
    layers = [_conv(width), activation or Relu()] * depth
    end = GlobalAvgPool() if global_pool else Flatten()
    return serial(*layers, end, Dense(num_outputs))


def myrtle(depth: int, width: int = 128, *, num_outputs: int = 1) -> Layer:
    """The Myrtle networks: 3 x 3 convolutions, and average pooling between stages.

    Shankar et al., "Neural kernels without tangents", ICML 2020 (arXiv:2003.02237).

    Args:
        depth: 5, 7 or 10 layers with weights.
        width: Channels of the finite network.
        num_outputs: Number of outputs.

    Returns:
        The network, on images of 32 x 32.

    Raises:
        ValueError: For another depth.
    """
    check_known("depth of a Myrtle network", str(depth), map(str, _MYRTLE))
    halve = AvgPool((2, 2), strides=2)
    layers: list[Layer] = []
    for stage, repeats in enumerate(_MYRTLE[depth]):
        layers += [_conv(width), Relu()] * repeats
        layers += [halve] * (3 if stage == 2 else 1)
    return serial(*layers, Flatten(), Dense(num_outputs, weight_std=_ROOT_2))


def wide_resnet(
    blocks: int, widening: int = 1, *, pool: int = 8, num_outputs: int = 1
) -> Layer:
    """A wide residual network without batch normalization.

    Zagoruyko and Komodakis, "Wide residual networks", BMVC 2016 (arXiv:1605.07146):
    three groups of blocks with 16, 32 and 64 channels, times the widening.

    Args:
        blocks: Residual blocks in each group.
        widening: How many times wider than the thin network.
        pool: Side of the averages before the output.
        num_outputs: Number of outputs.

    Returns:
        The network, on images.

    Raises:
        ValueError: If there is no block.
    """
    _check_depth(blocks)
    layers: list[Layer] = [Conv(16, (3, 3))]
    for group, channels in enumerate((16, 32, 64)):
        for number in range(blocks):
            strides = 2 if group and not number else 1
            layers.append(_block(channels * widening, strides, first=not number))
    return serial(*layers, AvgPool((pool, pool)), Flatten(), Dense(num_outputs))


def _block(width: int, strides: int, *, first: bool) -> Layer:
    options: dict[str, Any] = {"padding": "SAME"}
    around = Conv(width, (3, 3), strides, **options) if first else None
    return residual(
        Relu(),
        Conv(width, (3, 3), strides, **options),
        Relu(),
        Conv(width, (3, 3), **options),
        shortcut=around,
    )


def _conv(width: int) -> Layer:
    return Conv(width, (3, 3), weight_std=_ROOT_2)


def _check_depth(depth: int) -> None:
    if depth < 1:
        raise ValueError(f"A network needs at least one layer, got {depth}.")
