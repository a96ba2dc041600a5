"""The zoo again, written by hand from its description: slow, plain and obvious."""

from typing import Any

import jax
import jax.numpy as jnp

EPS = 1e-5
RESNET_BLOCKS = [f"block_{stage}_{i}" for stage in (1, 2, 3, 4) for i in (1, 2)]


def dense(layer, x):
    return x @ layer["kernel"] + layer["bias"][None]


def conv(kernel, x, stride=1, padding: Any = "SAME"):
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def average_pool(x):
    """Mean of each 2 x 2 square."""
    n, height, width, channels = x.shape
    return x.reshape(n, height // 2, 2, width // 2, 2, channels).mean(axis=(2, 4))


def batch_norm(layer, x, stats=None):
    """With the statistics given, or with those of the batch."""
    if stats is None:
        stats = {"mean": x.mean(axis=(0, 1, 2)), "var": x.var(axis=(0, 1, 2))}
    mean, var, scale, bias = (
        values.astype(x.dtype)[None, None, None]
        for values in (stats["mean"], stats["var"], layer["scale"], layer["bias"])
    )
    return (x - mean) / jnp.sqrt(var + EPS) * scale + bias


def mlp(params, x, activation):
    x = x.reshape(len(x), -1)
    for name in ("Dense_0", "Dense_1"):
        x = activation(dense(params[name], x))
    return dense(params["Dense_2"], x)


def lenet(params, x, activation):
    for name in ("Conv_0", "Conv_1"):
        bias = params[name]["bias"][None, None, None]
        x = average_pool(activation(conv(params[name]["kernel"], x) + bias))
    x = x.reshape(len(x), -1)
    for name in ("Dense_0", "Dense_1"):
        x = activation(dense(params[name], x))
    return dense(params["Dense_2"], x)


def resnet18(params, x, activation, stats=None):
    """With the statistics given, or of the batch; sides of images divisible by 8."""

    def norm(name, x, block=None):
        layers, frozen = (
            (params, stats)
            if block is None
            else (params[block], stats and stats[block])
        )
        return batch_norm(layers[name], x, frozen and frozen[name])

    x = conv(params["stem"]["kernel"], x, padding=[(1, 1), (1, 1)])
    x = activation(norm("stem_norm", x))
    for name in RESNET_BLOCKS:
        block = params[name]
        stride = 2 if name in ("block_2_1", "block_3_1", "block_4_1") else 1
        padding = [(0, 1), (0, 1)] if stride == 2 else [(1, 1), (1, 1)]
        y = conv(block["conv_1"]["kernel"], x, stride, padding)
        y = activation(norm("norm_1", y, name))
        y = conv(block["conv_2"]["kernel"], y)
        y = norm("norm_2", y, name)
        if stride == 2:
            x = conv(block["projection"]["kernel"], x, stride, padding="VALID")
            x = norm("projection_norm", x, name)
        x = activation(x + y)
    return dense(params["head"], x.mean(axis=(1, 2)))
