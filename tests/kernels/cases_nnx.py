"""Layers of flax nnx."""

import jax.numpy as jnp

import tangentlab as tl

from .cases import Tokens, library

IMAGE, SEQUENCE = (4, 4, 2), (4, 3)


def nnx_model(layers, body) -> tl.Model:
    """A network of `layers(nnx, rngs)`, a dict, called by `body(layers, x)`."""
    from flax import nnx

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.parts = nnx.Dict(layers(nnx, rngs))

        def __call__(self, x):
            return body(self.parts, x)

    return tl.models.from_nnx(Network)


def of_images(layer) -> tl.Model:
    """One layer that makes images of 3 channels, then a dense one."""

    def layers(nnx, rngs):
        return {"first": layer(nnx, rngs), "last": nnx.Linear(3, 2, rngs=rngs)}

    def body(parts, x):
        axes = tuple(range(1, x.ndim - 1))
        return parts["last"](jnp.tanh(parts["first"](x)).mean(axis=axes))

    return nnx_model(layers, body)


@library(outputs=2)
def nnx_dense():
    def layers(nnx, rngs):
        return {"a": nnx.Linear(3, 4, rngs=rngs), "b": nnx.Linear(4, 2, rngs=rngs)}

    return nnx_model(layers, lambda parts, x: parts["b"](jnp.tanh(parts["a"](x))))


@library(outputs=2)
def nnx_shared_layer():
    def layers(nnx, rngs):
        dense = nnx.Linear(3, 3, rngs=rngs)
        return {"a": dense, "b": dense, "c": nnx.Linear(3, 2, rngs=rngs)}

    def body(parts, x):
        return parts["c"](jnp.tanh(parts["b"](jnp.tanh(parts["a"](x)))))

    return nnx_model(layers, body)


@library(x=IMAGE, outputs=2)
def nnx_conv():
    return of_images(
        lambda nnx, rngs: nnx.Conv(2, 3, (3, 2), strides=(2, 1), rngs=rngs)
    )


@library(x=IMAGE, outputs=2)
def nnx_conv_transposed():
    return of_images(
        lambda nnx, rngs: nnx.ConvTranspose(2, 3, (2, 2), (2, 2), rngs=rngs)
    )


@library(x=SEQUENCE, outputs=2)
def nnx_einsum():
    def layers(nnx, rngs):
        return {"a": nnx.Einsum("nti,tio->nto", (4, 3, 2), (4, 2), rngs=rngs)}

    return nnx_model(layers, lambda parts, x: jnp.tanh(parts["a"](x)).sum(axis=1))


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def nnx_norms():
    def layers(nnx, rngs):
        return {
            "layer": nnx.LayerNorm(3, rngs=rngs),
            "dense": nnx.Linear(3, 4, rngs=rngs),
            "group": nnx.GroupNorm(4, num_groups=2, rngs=rngs),
            "rms": nnx.RMSNorm(4, rngs=rngs),
            "last": nnx.Linear(4, 2, rngs=rngs),
        }

    def body(parts, x):
        x = parts["group"](parts["dense"](parts["layer"](x)))
        return parts["last"](parts["rms"](jnp.tanh(x)).mean(axis=1))

    return nnx_model(layers, body)


@library(outputs=2, shifted=True, tags=("relaxed",))
def nnx_batch_norm():
    def layers(nnx, rngs):
        return {
            "dense": nnx.Linear(3, 4, rngs=rngs),
            "norm": nnx.BatchNorm(4, rngs=rngs),
            "drop": nnx.Dropout(0.5, rngs=rngs),
            "last": nnx.Linear(4, 2, rngs=rngs),
        }

    def body(parts, x):
        return parts["last"](parts["drop"](jnp.tanh(parts["norm"](parts["dense"](x)))))

    return nnx_model(layers, body)


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def nnx_attention():
    def layers(nnx, rngs):
        sizes = {"num_heads": 2, "in_features": 3, "qkv_features": 4, "out_features": 2}
        return {"mix": nnx.MultiHeadAttention(**sizes, decode=False, rngs=rngs)}

    return nnx_model(layers, lambda parts, x: jnp.tanh(parts["mix"](x)).mean(axis=1))


@library(x=Tokens((4,), 5), outputs=5)
def nnx_embedding():
    def layers(nnx, rngs):
        return {"table": nnx.Embed(5, 3, rngs=rngs)}

    def body(parts, x):
        return parts["table"].attend(jnp.tanh(parts["table"](x)).mean(axis=1))

    return nnx_model(layers, body)


@library(x=SEQUENCE, outputs=2, tags=("fixed",))
def nnx_lstm():
    def layers(nnx, rngs):
        cell = nnx.OptimizedLSTMCell(3, 3, param_dtype=jnp.float64, rngs=rngs)
        return {"read": nnx.RNN(cell), "last": nnx.Linear(3, 2, rngs=rngs)}

    return nnx_model(layers, lambda parts, x: parts["last"](parts["read"](x)[:, -1]))
