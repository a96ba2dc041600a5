"""Layers of haiku, which promotes ranks and dtypes as it likes."""

import functools
from typing import Any

import jax.numpy as jnp

import tangentlab as tl

from .cases import Tokens, library

IMAGE, SEQUENCE = (4, 4, 2), (4, 3)
haiku = functools.partial(library, outputs=2)


def of_images(layer) -> tl.Model:
    """One layer on images, then a dense one."""
    import haiku as hk

    def network(x):
        return hk.Linear(2)(jnp.tanh(layer(hk)(x)).mean(axis=(1, 2)))

    return tl.models.from_haiku(network, IMAGE)


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


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_attention():
    import haiku as hk

    def network(x):
        mix = hk.MultiHeadAttention(
            2, 2, w_init=hk.initializers.VarianceScaling(), model_size=2
        )
        mask = jnp.tril(jnp.ones((1, 1, 4, 4), bool))
        return jnp.tanh(mix(x, x, x, mask=mask)).mean(axis=1)

    return tl.models.from_haiku(network, SEQUENCE)


@haiku(x=Tokens((4,), 5), tags=("relaxed",))
def haiku_embedding():
    import haiku as hk

    def network(x):
        return hk.Linear(2)(jnp.tanh(hk.Embed(5, 3)(x)).mean(axis=1))

    return tl.models.from_haiku(network, (4,), input_dtype=jnp.int32)


@haiku(x=SEQUENCE, tags=("relaxed",))
def haiku_lstm():
    import haiku as hk

    def network(x):
        core = hk.LSTM(3)
        start = core.initial_state(x.shape[0])
        start = hk.LSTMState(*(part.astype(x.dtype) for part in start))
        states: Any = hk.dynamic_unroll(core, x, start, time_major=False)[0]
        return hk.Linear(2)(states[:, -1])

    return tl.models.from_haiku(network, SEQUENCE)


@haiku(tags=("relaxed",))
def haiku_layers_in_a_loop():
    import haiku as hk

    def network(x):
        stack = hk.experimental.layer_stack  # pyright: ignore[reportPrivateImportUsage]
        loop = stack(3)(lambda h: jnp.tanh(hk.Linear(3)(h)))
        return hk.Linear(2)(loop(x))

    return tl.models.from_haiku(network, (3,))
