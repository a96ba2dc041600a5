"""Layers of equinox, which map one sample and are vectorized by the adapter."""

import equinox as eqx
import jax
import jax.numpy as jnp

import tangentlab as tl

from .cases import Tokens, library

IMAGE, SEQUENCE = (2, 4, 4), (4, 3)


class Network(eqx.Module):
    """Layers by name, called by a function."""

    parts: dict
    body: object = eqx.field(static=True)

    def __call__(self, x, *state):
        return self.body(self.parts, x, *state)  # pyright: ignore[reportCallIssue]


def of_layers(layers, body) -> tl.Model:
    """A network of `layers(key)`, a dict, called by `body(layers, x)`."""
    return tl.models.from_equinox(lambda key: Network(layers(key), body))


def of_images(layer, channels=3) -> tl.Model:
    """One layer on images, channels first, that makes as many as said; then a dense."""

    def layers(key):
        return {"first": layer(key), "last": eqx.nn.Linear(channels, 2, key=key)}

    def body(parts, x):
        axes = tuple(range(1, x.ndim))
        return parts["last"](jnp.tanh(parts["first"](x)).mean(axis=axes))

    return of_layers(layers, body)


@library(outputs=2)
def equinox_dense():
    return tl.models.from_equinox(
        lambda key: eqx.nn.MLP(3, 2, 4, 2, activation=jnp.tanh, key=key)
    )


@library(outputs=2)
def equinox_shared_layer():
    class Twice(eqx.Module):
        shared: eqx.nn.Shared

        def __init__(self, key):
            pair = eqx.nn.Linear(3, 3, key=key), eqx.nn.Linear(3, 3, key=key)
            self.shared = eqx.nn.Shared(
                pair, lambda p: p[1].weight, lambda p: p[0].weight
            )

        def __call__(self, x):
            first, second = self.shared()
            return second(jnp.tanh(first(x)))[:2]

    return tl.models.from_equinox(Twice)


@library(x=IMAGE, outputs=2)
def equinox_conv():
    return of_images(
        lambda key: eqx.nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=1, key=key)
    )


@library(x=IMAGE, outputs=2)
def equinox_conv_circular_and_dilated():
    options = {"padding": "SAME", "padding_mode": "CIRCULAR", "dilation": 2}
    return of_images(lambda key: eqx.nn.Conv2d(2, 3, 2, **options, key=key))


@library(x=IMAGE, outputs=2)
def equinox_conv_transposed():
    return of_images(lambda key: eqx.nn.ConvTranspose2d(2, 3, 3, stride=2, key=key))


@library(x=IMAGE, outputs=2, tags=("kinks",))
def equinox_pools():
    def layers(key):
        return {
            "conv": eqx.nn.Conv2d(2, 4, 3, padding=1, groups=2, key=key),
            "max": eqx.nn.MaxPool2d(2, 1),
            "average": eqx.nn.AvgPool2d(2, 1),
            "slope": eqx.nn.PReLU(0.3),
            "last": eqx.nn.Linear(4, 2, key=key),
        }

    def body(parts, x):
        x = parts["max"](parts["slope"](parts["conv"](x)))
        return parts["last"](parts["average"](x).mean(axis=(1, 2)))

    return of_layers(layers, body)


@library(x=IMAGE, outputs=2, tags=("relaxed",))
def equinox_norms():
    def layers(key):
        return {
            "conv": eqx.nn.Conv2d(2, 4, 3, key=key),
            "group": eqx.nn.GroupNorm(2, 4),
            "layer": eqx.nn.LayerNorm(4),
            "rms": eqx.nn.RMSNorm(4),
            "last": eqx.nn.WeightNorm(eqx.nn.Linear(4, 2, key=key)),
        }

    def body(parts, x):
        x = jnp.tanh(parts["group"](parts["conv"](x))).mean(axis=(1, 2))
        return parts["last"](parts["rms"](jnp.sin(parts["layer"](x))))

    return of_layers(layers, body)


@library(outputs=2, shifted=True, tags=("relaxed",))
def equinox_batch_norm():
    def build(key):
        dense = eqx.nn.Linear(3, 4, key=key)
        norm = eqx.nn.BatchNorm(4, axis_name="batch", mode="batch")
        drop, last = eqx.nn.Dropout(0.5), eqx.nn.Linear(4, 2, key=key)

        def body(parts, x, state):
            x, state = parts["norm"](parts["dense"](x), state)
            return parts["last"](parts["drop"](jnp.tanh(x))), state

        parts = {"dense": dense, "norm": norm, "drop": drop, "last": last}
        return Network(parts, body)

    return tl.models.from_equinox(eqx.nn.make_with_state(build))


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def equinox_attention():
    def layers(key):
        return {
            "mix": eqx.nn.MultiheadAttention(2, 4, 3, 3, output_size=2, key=key),
            "turn": eqx.nn.RotaryPositionalEmbedding(4),
            "up": eqx.nn.Linear(3, 4, key=key),
        }

    def body(parts, x):
        turned = parts["turn"](jax.vmap(parts["up"])(x))
        mask = jnp.tril(jnp.ones((4, 4), bool))
        return parts["mix"](turned, x, x, mask=mask).mean(axis=0)

    return of_layers(layers, body)


@library(x=Tokens((4,), 5), outputs=5)
def equinox_embedding():
    def layers(key):
        return {"table": eqx.nn.Embedding(5, 3, key=key)}

    def body(parts, x):
        return parts["table"].weight @ jnp.tanh(
            jax.vmap(parts["table"])(x).mean(axis=0)
        )

    return of_layers(layers, body)


def recurrent(cell) -> tl.Model:
    def layers(key):
        return {"cell": cell(3, 3, key=key), "last": eqx.nn.Linear(3, 2, key=key)}

    def body(parts, x):
        zeros = jnp.zeros((3,), x.dtype)
        start = (zeros, zeros) if cell is eqx.nn.LSTMCell else zeros
        end, _ = jax.lax.scan(
            lambda state, now: (parts["cell"](now, state), None), start, x
        )
        return parts["last"](jax.tree.leaves(end)[0])

    return of_layers(layers, body)


@library(x=SEQUENCE, outputs=2)
def equinox_lstm():
    return recurrent(eqx.nn.LSTMCell)


@library(x=SEQUENCE, outputs=2)
def equinox_gru():
    return recurrent(eqx.nn.GRUCell)
