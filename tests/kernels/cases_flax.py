"""Layers of flax linen, and the zoo that is made of them."""

from typing import Any

import jax.numpy as jnp

import tangentlab as tl

from .cases import Tokens, library

IMAGE, SEQUENCE = (4, 4, 2), (4, 3)


def module_of(body, *, modes=False):
    """A module of a function that calls linen's layers, `body(nn, x[, train])`."""
    import flax.linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x, train=False):
            return body(nn, x, train) if modes else body(nn, x)

    return Network()


def linen(body, input_shape, *, modes=False, **options) -> tl.Model:
    """The network of a `body`, as `module_of` describes it."""
    if modes:
        options["eval_kwargs"], options["train_kwargs"] = (
            {"train": False},
            {"train": True},
        )
    module = module_of(body, modes=modes)
    return tl.models.from_flax(module, input_shape, **options)


def of_images(layer, **options) -> tl.Model:
    """One layer on images, then a dense one."""

    def body(nn, x):
        return nn.Dense(2)(jnp.tanh(layer(nn)(x)).mean(axis=(1, 2)))

    return linen(body, IMAGE, **options)


@library(outputs=2)
def flax_dense():
    return linen(lambda nn, x: nn.Dense(2)(jnp.tanh(nn.Dense(4)(x))), (3,))


@library(x=SEQUENCE, outputs=2)
def flax_dense_general():
    def body(nn, x):
        hidden = jnp.tanh(nn.DenseGeneral((2, 3))(x))
        return nn.DenseGeneral(2, axis=(1, -2, -1))(hidden)

    return linen(body, SEQUENCE)


@library(x=SEQUENCE, outputs=2)
def flax_einsum():
    def body(nn, x):
        return nn.Einsum((4, 3, 2), "nti,tio->no")(jnp.sin(x))

    return linen(body, SEQUENCE)


@library(x=IMAGE, outputs=2)
def flax_conv():
    return of_images(lambda nn: nn.Conv(3, (3, 2), strides=(2, 1), padding="SAME"))


@library(x=IMAGE, outputs=2)
def flax_conv_circular_and_dilated():
    return of_images(
        lambda nn: nn.Conv(3, (3, 3), padding="CIRCULAR", kernel_dilation=(1, 2))
    )


@library(x=IMAGE, outputs=2)
def flax_conv_grouped():
    return of_images(
        lambda nn: nn.Conv(4, (3, 3), feature_group_count=2, padding=((0, 1), (2, 0)))
    )


@library(x=IMAGE, outputs=2)
def flax_conv_transposed():
    return of_images(lambda nn: nn.ConvTranspose(3, (3, 3), strides=(2, 2)))


@library(x=IMAGE, outputs=2)
def flax_conv_unshared():
    return of_images(lambda nn: nn.ConvLocal(2, (2, 2), padding="VALID"))


@library(x=SEQUENCE, outputs=2)
def flax_conv_causal():
    def body(nn, x):
        return nn.Dense(2)(jnp.tanh(nn.Conv(3, (2,), padding="CAUSAL")(x)).mean(axis=1))

    return linen(body, SEQUENCE)


@library(x=IMAGE, outputs=2, tags=("kinks", "relaxed"))
def flax_pools():
    def body(nn, x):
        x = nn.max_pool(nn.Conv(3, (3, 3))(x), (2, 2), (1, 1))
        return nn.Dense(2)(nn.avg_pool(x, (3, 3), padding="SAME").mean(axis=(1, 2)))

    return linen(body, IMAGE)


@library(x=IMAGE, outputs=2, tags=("relaxed",))
def flax_norms():
    def body(nn, x):
        x = nn.GroupNorm(2)(nn.Conv(4, (2, 2))(x))
        x = nn.LayerNorm()(jnp.tanh(x).mean(axis=1))
        x = nn.RMSNorm()(jnp.tanh(nn.Dense(3)(x))).mean(axis=1)
        return nn.Dense(2)(x)

    return linen(body, IMAGE)


@library(outputs=2, shifted=True, tags=("relaxed",))
def flax_batch_norm():
    def body(nn, x, train):
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x))
        x = nn.Dropout(0.5, deterministic=not train)(jnp.tanh(x))
        return nn.Dense(2)(x)

    return linen(body, (3,), modes=True)


@library(outputs=2, tags=("relaxed",))
def flax_weight_norm():
    return linen(lambda nn, x: jnp.tanh(nn.WeightNorm(nn.Dense(2))(x)), (3,))


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def flax_attention():
    def body(nn, x):
        mask = nn.make_causal_mask(x[..., 0])
        x = nn.MultiHeadDotProductAttention(2, qkv_features=4, out_features=3)(
            x, mask=mask
        )
        return nn.Dense(2)(jnp.tanh(x)).mean(axis=1)

    return linen(body, SEQUENCE)


@library(x=Tokens((4,), 5), outputs=5)
def flax_embedding():
    def body(nn, x):
        table = nn.Embed(5, 3)
        return table.attend(jnp.tanh(nn.Dense(3)(table(x))).mean(axis=1))

    return linen(body, (4,), input_dtype=jnp.int32)


def recurrent(cell) -> tl.Model:
    """The state starts in the dtype of the parameters, so that has to be said."""

    def body(nn, x):
        states: Any = nn.RNN(getattr(nn, cell)(3, param_dtype=jnp.float64))(x)
        return nn.Dense(2)(states[:, -1])

    return linen(body, SEQUENCE)


@library(x=SEQUENCE, outputs=2, tags=("relaxed", "fixed"))
def flax_lstm():
    return recurrent("OptimizedLSTMCell")


@library(x=SEQUENCE, outputs=2, tags=("relaxed", "fixed"))
def flax_gru():
    return recurrent("GRUCell")


@library(outputs=2)
def flax_layers_in_a_loop():
    def body(nn, x):
        class Layer(nn.Module):
            @nn.compact
            def __call__(self, hidden, _):
                return jnp.tanh(nn.Dense(3)(hidden)), None

        loop = nn.scan(
            nn.remat(Layer), {"params": 0}, split_rngs={"params": True}, length=3
        )
        return nn.Dense(2)(loop()(x, None)[0])

    return linen(body, (3,))


@library(x=IMAGE, outputs=2, tags=("kinks",))
def zoo_mlp():
    return tl.models.mlp(IMAGE, num_outputs=2, widths=(4, 3))


@library(x=IMAGE, outputs=2)
def zoo_lenet():
    return tl.models.lenet(IMAGE, num_outputs=2, widths=(2, 3, 4, 3), activation="gelu")


@library(x=IMAGE, rows=(2, 1), initial=True, tags=("kinks",))
def zoo_resnet18():
    return tl.models.resnet18(IMAGE, width=1)


@library(x=IMAGE, rows=(2, 1), initial=True, tags=("kinks",))
def zoo_resnet18_with_open_branches():
    return tl.models.resnet18(IMAGE, width=1, last_scale=1.0)


@library(x=IMAGE, rows=(2, 1), shifted=True, tags=("kinks",))
def zoo_resnet18_with_other_statistics():
    return tl.models.resnet18(IMAGE, width=1)
