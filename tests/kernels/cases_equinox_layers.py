"""More of equinox: convolutions, pools, and its transformations."""

import equinox as eqx
import jax
import jax.numpy as jnp

import tangentlab as tl

from .cases import library
from .cases_equinox import IMAGE, SEQUENCE, of_images, of_layers


def two_layers(body) -> tl.Model:
    """Dense layers from 3 to 3 to 2 features, called by `body(a, b, x)`."""

    def layers(key):
        return {"a": eqx.nn.Linear(3, 3, key=key), "b": eqx.nn.Linear(3, 2, key=key)}

    return of_layers(layers, lambda parts, x: body(parts["a"], parts["b"], x))


@library(x=(3, 4, 4), outputs=2)
def equinox_conv_depthwise():
    return of_images(lambda key: eqx.nn.Conv2d(3, 3, 2, groups=3, key=key))


@library(x=(4, 3, 3), outputs=2)
def equinox_conv_grouped():
    def layer(key):
        return eqx.nn.Conv2d(4, 2, 2, groups=2, padding=1, key=key)

    return of_images(layer, 2)


@library(x=(2, 5), outputs=2)
def equinox_conv_1d():
    return of_images(lambda key: eqx.nn.Conv1d(2, 3, 3, stride=2, key=key))


@library(x=(2, 3, 3, 2), outputs=2)
def equinox_conv_3d():
    return of_images(lambda key: eqx.nn.Conv3d(2, 3, 2, key=key))


def adaptive(pool) -> tl.Model:
    """A convolution and a pool to a size that does not divide its input's."""

    def layer(key):
        conv = eqx.nn.Conv2d(2, 3, 2, padding=1, key=key)
        return eqx.nn.Sequential([conv, pool((2, 3))])

    return of_images(layer)


@library(x=IMAGE, outputs=2)
def equinox_adaptive_average_pool():
    return adaptive(eqx.nn.AdaptiveAvgPool2d)


@library(x=IMAGE, outputs=2, tags=("kinks",))
def equinox_adaptive_max_pool():
    return adaptive(eqx.nn.AdaptiveMaxPool2d)


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def equinox_attention_without_mask():
    def layers(key):
        mix = eqx.nn.MultiheadAttention(
            2, 3, qk_size=2, vo_size=2, output_size=2, key=key
        )
        return {"mix": mix}

    def body(parts, x):
        return jnp.tanh(parts["mix"](x, x, x)).mean(axis=0)

    return of_layers(layers, body)


@library(outputs=2)
def equinox_layers_in_a_loop():
    def layers(key):
        make = eqx.filter_vmap(lambda key: eqx.nn.Linear(3, 3, key=key))
        stack = make(jax.random.split(key, 3))
        return {"stack": stack, "last": eqx.nn.Linear(3, 2, key=key)}

    def body(parts, x):
        arrays, rest = eqx.partition(parts["stack"], eqx.is_array)

        def layer(hidden, one):
            return jnp.tanh(eqx.combine(one, rest)(hidden)), None

        return parts["last"](jax.lax.scan(layer, x, arrays)[0])

    return of_layers(layers, body)


@library(outputs=2)
def equinox_checkpoint():
    def body(a, b, x):
        return b(eqx.filter_checkpoint(lambda layer, x: jnp.tanh(layer(x)))(a, x))

    return two_layers(body)


@library(outputs=2)
def equinox_compiled_inside():
    def body(a, b, x):
        layer = eqx.filter_jit(lambda layer, x: jnp.tanh(layer(x)))
        return b(layer(a, layer(a, x)))

    return two_layers(body)


@library(outputs=2, tags=("bfloat16",))
def equinox_mixed_precision():
    def body(a, b, x):
        a, b, x = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), (a, b, x))
        return b(jnp.tanh(a(x))).astype(jnp.float32)

    return two_layers(body)


@library(x={"image": (2, 3), "vector": (3,)}, outputs=2)
def equinox_tree_of_inputs():
    def body(a, b, x):
        return b(jnp.tanh(jax.vmap(a)(x["image"]).mean(axis=0)) + x["vector"])

    return two_layers(body)
