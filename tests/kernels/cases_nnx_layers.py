"""More of flax nnx: convolutions, pools, cells, and its transformations."""

import jax.numpy as jnp

import tangentlab as tl

from .cases import library
from .cases_nnx import IMAGE, SEQUENCE, nnx_model, of_images


def two_layers(body, **options) -> tl.Model:
    """Dense layers from 3 to 3 to 2 features, called by `body(nnx, a, b, x)`."""
    from flax import nnx

    def layers(nnx, rngs):
        return {
            "a": nnx.Linear(3, 3, rngs=rngs, **options),
            "b": nnx.Linear(3, 2, rngs=rngs, **options),
        }

    return nnx_model(layers, lambda parts, x: body(nnx, parts["a"], parts["b"], x))


def convolution(inputs, kernel, **options) -> tl.Model:
    """A convolution to 3 channels, as `of_images` calls it."""
    return of_images(
        lambda nnx, rngs: nnx.Conv(inputs, 3, kernel, **options, rngs=rngs)
    )


@library(x=IMAGE, outputs=2)
def nnx_conv_dilated():
    dilations = {"kernel_dilation": (2, 1), "input_dilation": (1, 2)}
    return convolution(2, (2, 2), padding=((1, 0), (0, 1)), **dilations)


@library(x=(3, 3, 6), outputs=2)
def nnx_conv_grouped():
    return convolution(6, (2, 2), feature_group_count=3)


@library(x=(4, 4, 3), outputs=2)
def nnx_conv_depthwise():
    return convolution(3, (3, 3), feature_group_count=3)


@library(x=SEQUENCE, outputs=2)
def nnx_conv_1d():
    return convolution(3, (2,), padding="CAUSAL")


@library(x=(3, 3, 2, 2), outputs=2)
def nnx_conv_3d():
    return convolution(2, (2, 2, 2))


@library(x=IMAGE, outputs=2)
def nnx_conv_valid():
    return convolution(2, (2, 3), padding="VALID")


@library(x=IMAGE, outputs=2)
def nnx_conv_circular():
    return convolution(2, (3, 3), padding="CIRCULAR")


def pooled(pool) -> tl.Model:
    """A convolution, a pool `pool(nnx, x)`, and a dense layer."""
    from flax import nnx

    def layers(nnx, rngs):
        return {
            "first": nnx.Conv(2, 3, (2, 2), rngs=rngs),
            "last": nnx.Linear(3, 2, rngs=rngs),
        }

    def body(parts, x):
        x = jnp.tanh(pool(nnx, parts["first"](x)))
        return parts["last"](x.mean(axis=(1, 2)))

    return nnx_model(layers, body)


@library(x=IMAGE, outputs=2, tags=("relaxed",))
def nnx_average_pool():
    return pooled(lambda nnx, x: nnx.avg_pool(x, (3, 2), (1, 2), "SAME"))


@library(x=IMAGE, outputs=2, tags=("kinks", "relaxed"))
def nnx_max_pool():
    return pooled(lambda nnx, x: nnx.max_pool(x, (2, 2), (2, 2)))


@library(x=IMAGE, outputs=2, tags=("kinks", "relaxed"))
def nnx_min_pool():
    return pooled(lambda nnx, x: nnx.min_pool(x, (2, 2), (1, 1)))


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def nnx_attention_causal():
    """Its dropout is off; without any, it would round to single precision inside."""
    from flax import nnx

    def layers(nnx, rngs):
        sizes = {"num_heads": 2, "in_features": 3, "qkv_features": 4, "out_features": 2}
        options = {"dropout_rate": 0.5, "decode": False, "rngs": rngs}
        return {"mix": nnx.MultiHeadAttention(**sizes, **options)}

    def body(parts, x):
        mask = nnx.make_causal_mask(x[..., 0])
        return jnp.tanh(parts["mix"](x, mask=mask)).mean(axis=1)

    return nnx_model(layers, body)


@library(outputs=2, tags=("relaxed",))
def nnx_weight_norm():
    def layers(nnx, rngs):
        return {"a": nnx.WeightNorm(nnx.Linear(3, 2, rngs=rngs), rngs=rngs)}

    return nnx_model(layers, lambda parts, x: jnp.tanh(parts["a"](x)))


@library(outputs=2)
def nnx_low_rank_adapter():
    def layers(nnx, rngs):
        return {
            "a": nnx.LoRALinear(3, 4, lora_rank=2, rngs=rngs),
            "b": nnx.Linear(4, 2, rngs=rngs),
        }

    return nnx_model(layers, lambda parts, x: parts["b"](jnp.tanh(parts["a"](x))))


def recurrent(cell) -> tl.Model:
    """The state starts in the dtype of the parameters, so that has to be said."""

    def layers(nnx, rngs):
        options = {"dtype": jnp.float64, "param_dtype": jnp.float64, "rngs": rngs}
        read = nnx.RNN(getattr(nnx, cell)(3, 3, **options))
        return {"read": read, "last": nnx.Linear(3, 2, rngs=rngs)}

    return nnx_model(layers, lambda parts, x: parts["last"](parts["read"](x)[:, -1]))


@library(x=SEQUENCE, outputs=2, tags=("fixed",))
def nnx_gru():
    return recurrent("GRUCell")


@library(x=SEQUENCE, outputs=2, tags=("fixed",))
def nnx_simple_cell():
    return recurrent("SimpleCell")


@library(outputs=2, tags=("kinks",))
def nnx_relu():
    return two_layers(lambda nnx, a, b, x: b(nnx.relu(a(x))))


@library(outputs=2)
def nnx_gelu():
    return two_layers(lambda nnx, a, b, x: b(nnx.gelu(a(x))))


@library(outputs=2)
def nnx_compiled_inside():
    def body(nnx, a, b, x):
        layer = nnx.jit(lambda dense, x: jnp.tanh(dense(x)))
        return b(layer(a, layer(a, x)))

    return two_layers(body)


@library(outputs=2)
def nnx_checkpoint():
    def body(nnx, a, b, x):
        return b(nnx.remat(lambda dense, x: jnp.tanh(dense(x)))(a, x))

    return two_layers(body)


@library(outputs=2)
def nnx_branch_on_parameters():
    def body(nnx, a, b, x):
        ways = lambda a, x: jnp.tanh(a(x)), lambda a, x: jnp.sin(a(x))
        return b(nnx.cond(a.bias[0] > b.bias[0], *ways, a, x))

    return two_layers(body)


@library(outputs=2)
def nnx_layers_in_a_loop():
    from flax import nnx

    def layers(nnx, rngs):
        make = nnx.vmap(lambda rngs: nnx.Linear(3, 3, rngs=rngs))
        stack = nnx.split_rngs(splits=3)(make)(rngs)
        return {"stack": stack, "last": nnx.Linear(3, 2, rngs=rngs)}

    def body(parts, x):
        loop = nnx.scan(
            lambda dense, x: jnp.tanh(dense(x)),
            in_axes=(0, nnx.Carry),
            out_axes=nnx.Carry,
        )
        return parts["last"](loop(parts["stack"], x))

    return nnx_model(layers, body)


@library(outputs=2, tags=("bfloat16",))
def nnx_mixed_precision():
    def body(nnx, a, b, x):
        return b(jnp.tanh(a(x))).astype(jnp.float32)

    return two_layers(body, dtype=jnp.bfloat16)


@library(x={"image": (2, 3), "vector": (3,)}, outputs=2)
def nnx_tree_of_inputs():
    def body(nnx, a, b, x):
        return b(jnp.tanh(a(x["image"]).mean(axis=1)) + x["vector"])

    return two_layers(body)
