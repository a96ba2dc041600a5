"""Derivatives that are not those of the function, or are taken in the network."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import tangentlab as tl

from .cases import network

TWO_LAYERS = {"w": (3, 4), "v": (4, 2)}


def smooth(p, x):
    return jnp.tanh(x @ p["w"]) @ p["v"]


@jax.custom_jvp
def bent(x):
    """A sine whose derivative is said to be 3 x."""
    return jnp.sin(x)


@bent.defjvp
def _(primals, tangents):
    return bent(*primals), 3 * primals[0] * tangents[0]


@jax.custom_vjp
def bent_backward(x):
    """A sine whose derivative is said to be x squared plus 1."""
    return jnp.sin(x)


bent_backward.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * (x**2 + 1),))


@jax.custom_jvp
def bent_product(x, w):
    """A matrix product with twice and minus its derivatives."""
    return x @ w


@bent_product.defjvp
def _(primals, tangents):
    (x, w), (dx, dw) = primals, tangents
    return x @ w, 2 * (dx @ w) - x @ dw


@jax.custom_vjp
def bent_product_backward(x, w):
    """A matrix product that triples the gradient of its weight and drops a column."""
    return x @ w


bent_product_backward.defvjp(
    lambda x, w: (x @ w, (x, w)),
    lambda kept, g: (g @ kept[1].T, (3 * kept[0].T @ g).at[:, 0].set(0)),
)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def scaled_gradient(factor, x):
    return x


scaled_gradient.defvjp(lambda factor, x: (x, None), lambda factor, _, g: (factor * g,))


@network(TWO_LAYERS, outputs=2, tags=("kinks",))
def relu(p, x):
    return jax.nn.relu(x @ p["w"]) @ p["v"]


@network(TWO_LAYERS, outputs=2, tags=("kinks",))
def activations_at_their_kinks(p, x):
    """At zero `relu` has slope 0, a maximum 1/2 and an absolute value 0."""
    still = (x - x) @ p["w"] + 0 * p["w"][:1]
    bent = jax.nn.relu(still) + 2 * jnp.maximum(still, 0) + 3 * jnp.abs(still)
    return (bent + jnp.tanh(x @ p["w"])) @ p["v"]


@network(TWO_LAYERS, outputs=2)
def gelu(p, x):
    exact = jax.nn.gelu(x @ p["w"], approximate=False)
    return (exact + jax.nn.gelu(x @ p["w"])) @ p["v"]


@network(TWO_LAYERS, outputs=2)
def silu_and_softplus(p, x):
    return (jax.nn.silu(x @ p["w"]) + jax.nn.softplus(x @ p["w"])) @ p["v"]


@network(TWO_LAYERS, outputs=2)
def own_derivative_forward(p, x):
    return bent(x @ p["w"]) @ p["v"]


@network(TWO_LAYERS, outputs=2)
def own_derivative_backward(p, x):
    return bent_backward(x @ p["w"]) @ p["v"]


@network(TWO_LAYERS, outputs=2)
def own_derivative_of_a_weight(p, x):
    return jnp.tanh(x @ bent(p["w"])) @ bent_backward(p["v"])


@network(TWO_LAYERS, outputs=2)
def own_product_forward(p, x):
    return jnp.tanh(bent_product(jnp.tanh(bent_product(x, p["w"])), p["v"]))


@network(TWO_LAYERS, outputs=2)
def own_product_backward(p, x):
    hidden = jnp.tanh(bent_product_backward(x, p["w"]))
    return jnp.tanh(bent_product_backward(hidden, p["v"]))


@network({"w": (3, 3), "v": (3, 2)}, outputs=2)
def own_product_beside_a_plain_one(p, x):
    return jnp.tanh(bent_product(x, p["w"]) + x @ p["w"]) @ p["v"]


@network({"w": (2, 3, 3), "v": (3, 2)}, outputs=2)
def own_product_in_a_loop(p, x):
    def layer(hidden, w):
        return bent(bent_product_backward(hidden, w)), None

    return lax.scan(layer, x, p["w"])[0] @ p["v"]


@network(TWO_LAYERS, outputs=2)
def gradient_scaled_on_its_way(p, x):
    hidden: Any = scaled_gradient(-0.5, jnp.tanh(x @ p["w"]))
    return hidden @ scaled_gradient(3.0, p["v"])


@network({"w": (3, 4), "v": (4, 2)}, outputs=2, tags=("kinks",))
def straight_through_rounding(p, x):
    def quantize(w):
        return w + lax.stop_gradient(jnp.round(4 * w) / 4 - w)

    return jnp.tanh(x @ quantize(p["w"])) @ p["v"]


@network({"w": (3, 4), "v": (4, 2)}, outputs=2, tags=("kinks",))
def rounding_without_a_gradient(p, x):
    whole = (4 * p["w"]).astype(jnp.int32).astype(x.dtype)
    return jnp.tanh(x @ whole + jnp.round(x @ p["w"])) @ p["v"]


@network({"w": (3, 4), "v": (4, 2)}, outputs=2, tags=("kinks",))
def signs_of_weights(p, x):
    return jnp.tanh(x @ jnp.sign(p["w"]) * jnp.abs(p["w"]).mean()) @ p["v"]


@network({"w": (3, 4), "v": (4, 2), "s": ()}, outputs=2)
def stopped_gradient_of_a_weight(p, x):
    hidden = jnp.tanh(x @ lax.stop_gradient(p["w"]))
    return hidden @ p["v"] * lax.stop_gradient(p["s"])


@network(TWO_LAYERS, outputs=2)
def stopped_gradient_of_data(p, x):
    return lax.stop_gradient(jnp.tanh(x @ p["w"])) @ p["v"]


@network({"w": (3, 3)}, outputs=3)
def stopped_gradient_at_one_of_two_uses(p, x):
    return jnp.tanh(x @ p["w"]) @ lax.stop_gradient(p["w"])


@network({"w": (3, 2)}, outputs=2, tags=("zero",))
def every_gradient_stopped(p, x):
    return jnp.tanh(x @ lax.stop_gradient(p["w"]))


def energy(p, row):
    return jnp.sum(jnp.tanh(jnp.sin(row @ p["w"]) @ p["v"]))


@network(TWO_LAYERS, outputs=3)
def force_of_an_energy(p, x):
    return -jax.vmap(jax.grad(energy, argnums=1), (None, 0))(p, x)


@network(TWO_LAYERS)
def directional_derivative(p, x):
    return jax.jvp(lambda x: jnp.tanh(smooth(p, x)), (x,), (x**2,))[1][:, :1]


@network(TWO_LAYERS)
def laplacian(p, x):
    trace = jax.vmap(lambda row: jnp.trace(jax.hessian(energy, argnums=1)(p, row)))
    return trace(x)[:, None]


def somewhere(p):
    """Parameters that others are expanded at."""

    def one(leaf):
        return jnp.linspace(-1, 1, leaf.size, dtype=leaf.dtype).reshape(leaf.shape)

    return jax.tree.map(one, p)


@network(TWO_LAYERS, outputs=2)
def linearized(p, x):
    return tl.linearize(smooth, somewhere(p))(p, x)


@network(TWO_LAYERS, outputs=2)
def expanded_to_second_order(p, x):
    return tl.taylor_expand(smooth, somewhere(p), 2)(p, x)
