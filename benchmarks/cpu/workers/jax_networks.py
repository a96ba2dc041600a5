"""The three networks in plain JAX, for libraries that differentiate JAX functions.

Parameters are named as in the zoo of tangentlab; batch norm is frozen at mean 0 and
variance 1, so it is a scale and a shift.
"""

import jax
import jax.numpy as jnp
from jax import lax

_EPSILON = 1e-5


def mlp(params, x):
    """Flatten, two hidden layers, one logit."""
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(_dense(params["Dense_0"], x))
    x = jax.nn.relu(_dense(params["Dense_1"], x))
    return _dense(params["Dense_2"], x)


def lenet(params, x):
    """Two convolutions with average pooling, then three dense layers."""
    for name in ("Conv_0", "Conv_1"):
        x = _conv(params[name]["kernel"], x, 1) + params[name]["bias"]
        x = _average_pool(jax.nn.relu(x))
    x = x.reshape(x.shape[0], -1)
    for name in ("Dense_0", "Dense_1"):
        x = jax.nn.relu(_dense(params[name], x))
    return _dense(params["Dense_2"], x)


def resnet18(params, x):
    """A 3x3 stem, four stages of two basic blocks, global average pooling."""
    x = jax.nn.relu(_norm(params["stem_norm"], _conv(params["stem"]["kernel"], x, 1)))
    for stage in range(1, 5):
        for block in range(1, 3):
            stride = 2 if stage > 1 and block == 1 else 1
            x = _block(params[f"block_{stage}_{block}"], x, stride)
    return _dense(params["head"], jnp.mean(x, axis=(1, 2)))


def _block(params, x, stride: int):
    branch = _norm(params["norm_1"], _conv(params["conv_1"]["kernel"], x, stride))
    branch = _conv(params["conv_2"]["kernel"], jax.nn.relu(branch), 1)
    branch = _norm(params["norm_2"], branch)
    if "projection" in params:
        x = _conv(params["projection"]["kernel"], x, stride)
        x = _norm(params["projection_norm"], x)
    return jax.nn.relu(x + branch)


def _dense(params, x):
    return x @ params["kernel"] + params["bias"]


def _conv(kernel, x, stride: int):
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def _norm(params, x):
    return x * (params["scale"] / jnp.sqrt(1 + _EPSILON)) + params["bias"]


def _average_pool(x):
    window = (1, 2, 2, 1)
    return lax.reduce_window(x, 0.0, lax.add, window, window, "VALID") / 4


def nested(params):
    """A flat dict with keys such as `block/conv/kernel` as a dict of dicts."""
    tree = {}
    for key, value in params.items():
        *path, name = key.split("/")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[name] = jnp.asarray(value)
    return tree


NETWORKS = {"mlp": mlp, "lenet": lenet, "resnet18": resnet18}
