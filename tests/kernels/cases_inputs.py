"""Parameters and samples of every structure, and parameters left out or weighed."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .cases import Tokens, network


class Layer(NamedTuple):
    w: Any
    b: Any


class Module(eqx.Module):
    w: Any
    v: Any
    label: str = eqx.field(static=True, default="a static field")


@network(
    {"image": (2, 3), "vector": (3, 3), "table": (5, 3), "v": (3, 2)},
    x={"image": (4, 4, 2), "vector": (3,), "token": Tokens((), 5)},
    outputs=2,
)
def tree_of_inputs(p, x):
    hidden = jnp.tanh(x["image"] @ p["image"]).mean(axis=(1, 2))
    hidden = hidden + x["vector"] @ p["vector"] + p["table"][x["token"]]
    return jnp.tanh(hidden) @ p["v"]


@network({"w": (3, 2)}, x=[(3,), ((3,), (3,))], outputs=2)
def nested_inputs(p, x):
    first, (second, _) = x
    return jnp.tanh(first @ p["w"]) * (second @ p["w"])


@network({"a": (3,), "w": (3, 1)}, x=())
def inputs_without_axes(p, x):
    return jnp.tanh(x[:, None] * p["a"][None]) @ p["w"]


@network({"w": (12, 2)}, x=(2, 1, 3, 1, 2), outputs=2)
def inputs_with_many_axes(p, x):
    return jnp.tanh(x.reshape(-1, 12) @ p["w"])


@network({"w": (12, 2)}, x=Tokens((2, 2, 3), 256, jnp.uint8), outputs=2)
def byte_images(p, x):
    pixels = x.astype(p["w"].dtype) / 255
    return jnp.tanh(pixels.reshape(-1, 12) @ p["w"])


@network({"w": (3, 2)}, x={"x": (3,), "keep": Tokens((3,), 2, jnp.bool_)}, outputs=2)
def mask_beside_the_input(p, x):
    return jnp.tanh(jnp.where(x["keep"], x["x"], 0) @ p["w"])


@network({"w": (3, 2), "v": (2, 2)}, rows=(1, 1), outputs=2)
def one_example_each(p, x):
    return jnp.tanh(x @ p["w"]) @ p["v"]


@network({"w": (3, 2), "v": (2, 2)}, rows=(2, 5), outputs=2)
def more_columns_than_rows(p, x):
    return jnp.tanh(x @ p["w"]) @ p["v"]


@network((Layer((3, 4), (4,)), Layer((4, 2), (2,))), outputs=2)
def tuples_of_parameters(layers, x):
    first, second = layers
    return jnp.tanh(x @ first.w + first.b[None]) @ second.w + second.b[None]


@network(lambda: Module((3, 4), (4, 2)), outputs=2)
def module_of_parameters(module, x):
    return jnp.tanh(x @ module.w) @ module.v


@network({"w": np.linspace(-1, 1, 6).reshape(3, 2), "g": 0.7, "none": None}, outputs=2)
def numpy_and_python_parameters(p, x):
    return jnp.tanh(x @ p["w"]) * p["g"]


BUFFERS = {
    "w": (3, 2),
    "order": np.array([2, 0, 1], np.int32),
    "calls": 7,
    "mask": np.array([True, False, True]),
}


@network(BUFFERS, outputs=2)
def integer_buffers(p, x):
    kept = jnp.where(p["mask"][None], x[:, p["order"]], 1)
    return jnp.tanh(kept @ p["w"]) * jnp.asarray(p["calls"], x.dtype)


@network(lambda: {"w": (3, 2), "key": jax.random.key(5)}, outputs=2)
def random_key_among_parameters(p, x):
    frame = jax.random.uniform(p["key"], (3, 3), jnp.float64).astype(x.dtype)
    return jnp.tanh(x @ frame @ p["w"])


PAIR = {"w": (3, 4), "b": (4,), "v": (4, 2)}


def pair(p, x):
    return jnp.tanh(x @ p["w"] + p["b"][None]) @ p["v"]


@network(PAIR, outputs=2, trainable={"w": False, "b": True, "v": True})
def frozen_first_layer(p, x):
    return pair(p, x)


@network(
    {"first": PAIR, "second": {"u": (2, 2)}},
    outputs=2,
    trainable={"first": True, "second": False},
)
def frozen_by_a_prefix(p, x):
    return jnp.sin(pair(p["first"], x)) @ p["second"]["u"]


@network({"w": (3, 3), "v": (3, 2)}, outputs=2, trainable={"w": True, "v": False})
def frozen_and_shared(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w"]) @ (p["w"] @ p["v"])) * p["v"][:1]


@network(PAIR, outputs=2, scale={"w": 0.25, "b": 0.0, "v": 3.0})
def weighed_by_layer(p, x):
    return pair(p, x)


@network(
    {"w": (3, 4), "v": (4, 2)},
    outputs=2,
    scale={
        "w": np.arange(12.0).reshape(3, 4) / 5,
        "v": np.array([[2.0], [0], [1], [3]]),
    },
)
def weighed_by_element(p, x):
    return jnp.tanh(x @ p["w"]) @ p["v"]


@network(
    {"w": (3, 3), "v": (3, 2)},
    outputs=2,
    trainable={"w": True, "v": False},
    scale={"w": np.arange(9.0).reshape(3, 3) / 3, "v": 1.0},
)
def weighed_and_shared(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w"]) @ p["w"].T) @ p["v"]


@network(
    {"k": (2, 2, 2, 3), "v": (3, 2)},
    x=(4, 4, 2),
    outputs=2,
    scale={"k": np.arange(24.0).reshape(2, 2, 2, 3), "v": 1.0},
)
def weighed_kernel(p, x):
    layouts = ("NHWC", "HWIO", "NHWC")
    images = jax.lax.conv_general_dilated(
        x, p["k"], (1, 1), "SAME", dimension_numbers=layouts
    )
    return jnp.tanh(images).mean(axis=(1, 2)) @ p["v"]
