"""Layers of haiku, which promotes ranks and dtypes as it likes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl

from .cases import Tokens, library

IMAGE, SEQUENCE, VOLUME = (4, 4, 2), (4, 3), (3, 3, 2, 2)
haiku = functools.partial(library, outputs=2)


def of_images(layer, input_shape=IMAGE) -> tl.Model:
    """One layer on images, then a dense one."""
    import haiku as hk

    def network(x):
        axes = tuple(range(1, x.ndim - 1))
        return hk.Linear(2)(jnp.tanh(layer(hk)(x)).mean(axis=axes))

    return tl.models.from_haiku(network, input_shape)


@haiku(tags=("relaxed",))
def haiku_dense():
    import haiku as hk

    return tl.models.from_haiku(
        lambda x: hk.nets.MLP((4, 2), activation=jnp.tanh)(x), (3,)
    )


@haiku(tags=("relaxed",))
def haiku_shared_layer():
    import haiku as hk

    def network(x):
        dense = hk.Linear(3)
        return hk.Linear(2)(jnp.tanh(dense(jnp.tanh(dense(x)))))

    return tl.models.from_haiku(network, (3,))


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_conv():
    return of_images(
        lambda hk: hk.Conv2D(4, (3, 2), stride=(2, 1), feature_group_count=2)
    )


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_conv_dilated():
    return of_images(lambda hk: hk.Conv2D(3, 2, rate=2, padding="SAME"))


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_conv_transposed():
    return of_images(lambda hk: hk.Conv2DTranspose(3, 3, stride=2))


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_conv_separable():
    return of_images(lambda hk: hk.SeparableDepthwiseConv2D(2, 3))


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_conv_depthwise():
    return of_images(lambda hk: hk.DepthwiseConv2D(1, 3))


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_conv_valid():
    return of_images(lambda hk: hk.Conv2D(3, (2, 3), padding="VALID"))


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_conv_1d():
    return of_images(lambda hk: hk.Conv1D(3, 2, padding=hk.pad.causal), SEQUENCE)


@haiku(x=VOLUME, tags=("relaxed",))
def haiku_conv_3d():
    return of_images(lambda hk: hk.Conv3D(3, 2), VOLUME)


@haiku(x=IMAGE, tags=("relaxed", "kinks"))
def haiku_pools():
    import haiku as hk

    def network(x):
        x = hk.max_pool(hk.Conv2D(3, 3)(x), (2, 2, 1), (1, 1, 1), "VALID")
        x = hk.avg_pool(x, (2, 2, 1), (1, 2, 1), "SAME")
        return hk.Linear(2)(x.mean(axis=(1, 2)))

    return tl.models.from_haiku(network, IMAGE)


@haiku(x=IMAGE, tags=("relaxed",))
def haiku_norms():
    import haiku as hk

    def network(x):
        x = hk.GroupNorm(2)(hk.Conv2D(4, 2)(x))
        x = hk.LayerNorm(-1, True, True)(jnp.tanh(x)).mean(axis=(1, 2))
        return hk.Linear(2)(hk.RMSNorm(-1)(x))

    return tl.models.from_haiku(network, IMAGE)


@haiku(shifted=True, tags=("relaxed",))
def haiku_batch_norm():
    import haiku as hk

    def network(x, is_training):
        x = hk.BatchNorm(True, True, 0.9)(hk.Linear(4)(x), is_training)
        return hk.Linear(2)(jnp.tanh(x))

    return tl.models.from_haiku(
        network,
        (3,),
        eval_kwargs={"is_training": False},
        train_kwargs={"is_training": True},
    )


def attention(mask=None) -> tl.Model:
    import haiku as hk

    def network(x):
        mix = hk.MultiHeadAttention(
            2, 2, w_init=hk.initializers.VarianceScaling(), model_size=2
        )
        return jnp.tanh(mix(x, x, x, mask=mask)).mean(axis=1)

    return tl.models.from_haiku(network, SEQUENCE)


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_attention():
    return attention(np.tril(np.ones((1, 1, 4, 4), bool)))


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_attention_without_mask():
    return attention()


@haiku(x=Tokens((4,), 5), tags=("relaxed",))
def haiku_embedding():
    import haiku as hk

    def network(x):
        return hk.Linear(2)(jnp.tanh(hk.Embed(5, 3)(x)).mean(axis=1))

    return tl.models.from_haiku(network, (4,), input_dtype=jnp.int32)


@library(x=Tokens((4,), 5), outputs=5, tags=("relaxed",))
def haiku_embedding_tied_to_readout():
    import haiku as hk

    def network(x):
        table = hk.Embed(5, 3)
        return jnp.tanh(table(x)).mean(axis=1) @ table.embeddings.T

    return tl.models.from_haiku(network, (4,), input_dtype=jnp.int32)


def recurrent(make) -> tl.Model:
    """A core that starts in the dtype of the samples, then a dense layer."""
    import haiku as hk

    def network(x):
        core = make(hk)
        start = core.initial_state(x.shape[0])
        start = jax.tree.map(lambda part: part.astype(x.dtype), start)
        states: Any = hk.dynamic_unroll(core, x, start, time_major=False)[0]
        return hk.Linear(2)(states[:, -1])

    return tl.models.from_haiku(network, SEQUENCE)


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_lstm():
    return recurrent(lambda hk: hk.LSTM(3))


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_gru():
    return recurrent(lambda hk: hk.GRU(3))


@haiku(x=SEQUENCE, tags=("relaxed", "kinks"))
def haiku_vanilla_recurrent():
    return recurrent(lambda hk: hk.VanillaRNN(3))


@haiku(tags=("relaxed",))
def haiku_layers_in_a_loop():
    import haiku as hk

    def network(x):
        stack = hk.experimental.layer_stack  # pyright: ignore[reportPrivateImportUsage]
        loop = stack(3)(lambda h: jnp.tanh(hk.Linear(3)(h)))
        return hk.Linear(2)(loop(x))

    return tl.models.from_haiku(network, (3,))


@haiku(tags=("relaxed",))
def haiku_checkpoint():
    import haiku as hk

    def network(x):
        hidden = hk.remat(lambda x: jnp.tanh(hk.Linear(4)(x)))(x)
        return hk.Linear(2)(hidden)

    return tl.models.from_haiku(network, (3,))


@haiku(tags=("relaxed",))
def haiku_branch_on_parameters():
    import haiku as hk

    def network(x):
        a, b, last = hk.Linear(2), hk.Linear(2), hk.Linear(2)
        pick = hk.get_parameter("pick", (), init=hk.initializers.Constant(0))
        if hk.running_init():
            return last(a(x) + b(x))
        ways = lambda x: jnp.tanh(a(x)), lambda x: jnp.sin(b(x))
        return last(hk.cond(pick > 0, *ways, x))

    return tl.models.from_haiku(network, (3,))


@haiku(tags=("relaxed", "bfloat16"))
def haiku_mixed_precision():
    import haiku as hk
    import jmp

    policy = jmp.get_policy("params=float32,compute=bfloat16,output=float32")

    def network(x):
        with hk.mixed_precision.push_policy(hk.nets.MLP, policy):
            return hk.nets.MLP((4, 2), activation=jnp.tanh)(x)

    return tl.models.from_haiku(network, (3,))
