"""Weights that are not parameters: moved, scaled, or computed from them."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree

from .cases import network


def two_layers(x, w, v):
    return jnp.tanh(x @ w) @ v


@network({"w": (3, 4), "v": (4, 1)})
def ntk_parameterization(p, x):
    return two_layers(x, p["w"] / 3**0.5, p["v"] / 4**0.5)


@network({"w": (3, 4), "v": (4, 1)})
def scaled_by_numpy(p, x):
    root = np.sqrt(np.asarray(1 / 3, x.dtype))
    return two_layers(x, root * p["w"], p["v"] * np.full((1, 1), 0.5, x.dtype))


@network({"w": (3, 4), "v": (4, 1)})
def scaled_by_a_number_computed_inside(p, x):
    return two_layers(
        x, p["w"] / jnp.sqrt(jnp.asarray(3, x.dtype)), p["v"] * jnp.exp(-0.5)
    )


@network({"w": (3, 4), "v": (4, 1)})
def scaled_negatively(p, x):
    return two_layers(x, -p["w"] * 0.7, p["v"] / -2)


@network({"w": (3, 3), "v": (3, 1)})
def scaled_differently_at_two_uses(p, x):
    return jnp.tanh(two_layers(x, 2 * p["w"], -0.5 * p["w"])) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def scaled_by_rows(p, x):
    rows = np.asarray([[0.5], [-1.0], [2.0]], x.dtype)
    return two_layers(x, rows * p["w"], p["v"])


@network({"w": (3, 4), "g": (), "v": (4, 1)})
def scaled_by_a_parameter(p, x):
    return two_layers(x, p["g"] * p["w"], p["v"])


@network({"w": (3, 4), "v": (4, 1)})
def divided_into_a_number(p, x):
    return two_layers(x, 1 / (2 + p["w"]), 0.3 / (3 + p["v"]))


@network({"g": (), "h": (1, 1)}, outputs=2)
def number_times_a_constant_matrix(p, x):
    w = np.arange(12.0).reshape(3, 4).astype(x.dtype) / 6
    return jnp.tanh(x @ (p["g"] * w)) @ (p["h"] * w[:, :2].repeat(2, 0)[:4])


@network({"w": (3, 4), "g": (4,), "v": (4, 1)})
def weight_norm(p, x):
    w = p["w"] / jnp.linalg.norm(p["w"], axis=0, keepdims=True)
    return two_layers(x, p["g"][None] * w, p["v"])


@network({"w": (3, 4), "s": (), "v": (4, 1)})
def softplus_scale(p, x):
    return two_layers(x, p["w"] * jax.nn.softplus(p["s"]), p["v"])


@network({"w": (3, 4), "v": (4, 1)})
def squared_weight(p, x):
    return two_layers(x, p["w"] ** 2, jnp.exp(p["v"]))


@network({"w": (3, 4), "v": (4, 1)})
def softmax_of_a_weight(p, x):
    return two_layers(x, jax.nn.softmax(p["w"], axis=1), p["v"])


@network({"w": (3, 4), "v": (4, 1)})
def standardized_weight(p, x):
    centered = p["w"] - p["w"].mean(axis=0, keepdims=True)
    return two_layers(x, centered / jnp.std(p["w"], axis=0, keepdims=True), p["v"])


@network({"w": (4, 4), "v": (4, 1)}, x=(4, 3))
def spectral_norm(p, x):
    start = jnp.ones((4,), x.dtype)

    def step(_, u):
        u = p["w"].T @ (p["w"] @ u)
        return u / jnp.linalg.norm(u)

    u = lax.stop_gradient(lax.fori_loop(0, 3, step, start))
    sigma = jnp.linalg.norm(p["w"] @ u)
    return two_layers(x.swapaxes(1, 2), p["w"] / sigma, p["v"])[:, 0]


@network({"w": (3, 3), "v": (3, 1)})
def orthogonal_weight(p, x):
    skew, eye = p["w"] - p["w"].T, jnp.eye(3, dtype=x.dtype)
    return two_layers(x, jnp.linalg.solve(eye + skew, eye - skew), p["v"])


@network({"w": (3, 3), "v": (3, 1)})
def solved_for(p, x):
    matrix = p["w"] @ p["w"].T + 2 * jnp.eye(3, dtype=x.dtype)
    return jnp.tanh(jnp.linalg.solve(matrix, x.T)).T @ p["v"]


@network({"a": (3, 2), "b": (4, 2), "v": (4, 1)})
def concatenated_weights(p, x):
    w = jnp.concatenate([p["a"], p["b"][1:]], axis=1)
    return two_layers(x, w, p["v"])


@network({"a": (3,), "b": (3,), "v": (2, 1)})
def stacked_weights(p, x):
    return two_layers(x, jnp.stack([p["a"], p["b"]], axis=1), p["v"])


@network({"w": (4, 3), "v": (1, 4)})
def transposed_weight(p, x):
    return two_layers(x, p["w"].T, p["v"].T)


@network({"w": (2, 2, 3), "v": (4,)})
def reshaped_weight(p, x):
    return two_layers(x, p["w"].transpose(2, 1, 0).reshape(3, 4), p["v"][:, None])


@network({"w": (3, 4), "v": (4, 1)})
def reversed_weight(p, x):
    return two_layers(x, p["w"][::-1], jnp.flip(p["v"]))


@network({"w": (5, 4), "v": (4, 1)})
def gathered_weight(p, x):
    return two_layers(x, p["w"][np.array([4, 0, 2])], p["v"][jnp.array([3, 2, 1, 0])])


@network({"w": (5, 2), "v": (4, 1)})
def gathered_weight_with_repeats(p, x):
    rows = p["w"][np.array([1, 1, 4])]
    return two_layers(x, rows[:, np.array([0, 1, 1, 0])], p["v"])


@network({"w": (6, 8), "v": (4, 1)})
def sliced_with_strides(p, x):
    return two_layers(x, p["w"][1::2, ::2], p["v"])


@network({"w": (6, 8), "v": (4, 1)})
def sliced_at_a_constant(p, x):
    return two_layers(x, lax.dynamic_slice(p["w"], (2, 3), (3, 4)), p["v"])


@network((3, 12), outputs=2)
def disjoint_slices(w, x):
    first = jnp.tanh(x @ w[:, :4]) * jnp.cos(x @ w[:, 4:8])
    return first @ w[1:, 8:].T[:, :2] + x @ w[:, 4:6]


@network((6, 4), outputs=2)
def interleaved_slices(w, x):
    return jnp.tanh(x @ w[::2]) @ w[1::2].reshape(4, 3)[:, 1:]


@network((3, 5), outputs=2)
def overlapping_slices(w, x):
    return jnp.tanh(x @ w[:, :3]) @ w[:, 1:3] + x @ w[:, 2:4]


@network((4, 4), outputs=2)
def slice_and_whole(w, x):
    return jnp.tanh(jnp.tanh(x @ w[1:]) @ w) @ w[:, :2]


@network((27,))
def flat_vector_of_parameters(flat, x):
    shapes = {"a": (3, 4), "b": (4,), "c": (4, 2), "d": (2, 1), "e": (1,)}
    zeros = {name: jnp.zeros(shape, flat.dtype) for name, shape in shapes.items()}
    p = ravel_pytree(zeros)[1](flat)
    hidden = jnp.sin(jnp.tanh(x @ p["a"] + p["b"][None]) @ p["c"])
    return hidden @ p["d"] + p["e"][None]


@network({"u": (3, 2), "v": (2, 4), "w": (4, 1)})
def low_rank_weight(p, x):
    return two_layers(x, p["u"] @ p["v"], p["w"])


@network(
    {"frozen": (3, 4), "u": (3, 1), "v": (1, 4), "w": (4, 1)},
    trainable={"frozen": False, "u": True, "v": True, "w": False},
)
def low_rank_adapter(p, x):
    return two_layers(x, p["frozen"] + 0.5 * p["u"] @ p["v"], p["w"])


@network((2, 2, 2, 3), x=(4, 4, 2))
def kernel_and_matrix_in_one(w, x):
    layouts = ("NHWC", "HWIO", "NHWC")
    images = lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=layouts)
    flat = jnp.tanh(images).reshape(-1, 12)
    return jnp.tanh(flat @ w.reshape(12, 2)).sum(axis=1, keepdims=True)


@network({"w": (3, 3), "v": (3, 1)})
def symmetric_weight(p, x):
    return two_layers(x, p["w"] + p["w"].T, p["v"])


@network({"w": (3, 3), "v": (3, 1)})
def triangular_weight(p, x):
    return two_layers(x, jnp.tril(p["w"]), p["v"])


@network({"w": (3, 4), "v": (4, 1)})
def masked_weight(p, x):
    mask = np.arange(12).reshape(3, 4) % 3 == 0
    return two_layers(x, p["w"] * mask.astype(x.dtype), p["v"])


@network({"w": (3, 4), "u": (3, 4), "v": (4, 1)})
def chosen_between_weights(p, x):
    mask = np.arange(12).reshape(3, 4) % 2 == 0
    return two_layers(x, jnp.where(mask, p["w"], p["u"]), p["v"])


@network({"w": (3, 1), "u": (2,), "v": (4, 1)})
def broadcast_and_tiled_weights(p, x):
    w = jnp.broadcast_to(p["w"], (3, 4)) * jnp.tile(p["u"], 2)[None]
    return two_layers(x, w, p["v"])


@network({"w": (1, 3), "v": (4, 1)})
def padded_weight(p, x):
    return two_layers(x, jnp.pad(p["w"], ((1, 1), (0, 1))), p["v"])


@network({"u": (3,), "w": (4,), "v": (4, 1)})
def outer_product_of_vectors(p, x):
    return two_layers(x, jnp.outer(p["u"], p["w"]), p["v"])


@network({"c": (3,), "v": (3, 1)})
def circulant_weight(p, x):
    index = (np.arange(3)[:, None] - np.arange(3)[None]) % 3
    return two_layers(x, p["c"][index], p["v"])


@network({"w": (3, 3), "v": (3, 1)})
def cumulative_and_sorted_weights(p, x):
    return two_layers(x, jnp.cumsum(p["w"], axis=0), jnp.sort(p["v"], axis=0))


@network({"a": (1, 3), "b": (3, 4), "v": (4, 1)})
def weight_from_a_network_of_coordinates(p, x):
    places = np.linspace(-1, 1, 3).astype(x.dtype)[:, None]
    return two_layers(x, jnp.sin(places @ p["a"]) @ p["b"], p["v"])
