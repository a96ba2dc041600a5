"""More of flax linen: layers, lifted transformations, modules without the adapter."""

import jax.numpy as jnp

import tangentlab as tl

from .cases import as_type, library
from .cases_flax import IMAGE, SEQUENCE, linen, module_of, of_images

VOLUME = (3, 3, 2, 2)


def without_adapter(body, example) -> tl.Model:
    """The module of a `body`, called on samples like those of a batch `example`."""
    module, example = module_of(body), as_type(example, jnp.float32)
    return tl.models.from_function(
        lambda key: module.init(key, example)["params"],
        lambda params, x: module.apply({"params": params}, x),
    )


@library(x=IMAGE, outputs=2)
def flax_conv_depthwise():
    return of_images(lambda nn: nn.Conv(2, (3, 3), feature_group_count=2))


@library(x=IMAGE, outputs=2)
def flax_conv_valid():
    return of_images(lambda nn: nn.Conv(3, (2, 3), padding="VALID"))


@library(x=VOLUME, outputs=2)
def flax_conv_3d():
    def body(nn, x):
        return nn.Dense(2)(jnp.tanh(nn.Conv(3, (2, 2, 2))(x)).mean(axis=(1, 2, 3)))

    return linen(body, VOLUME)


@library(x=IMAGE, outputs=2, tags=("kinks", "relaxed"))
def flax_min_pool():
    def body(nn, x):
        x = nn.pooling.min_pool(nn.Conv(3, (2, 2))(x), (2, 2), (2, 1))
        return nn.Dense(2)(x.mean(axis=(1, 2)))

    return linen(body, IMAGE)


@library(outputs=2)
def flax_shared_layer():
    def body(nn, x):
        dense = nn.Dense(3)
        return nn.Dense(2)(jnp.tanh(dense(jnp.tanh(dense(x)))))

    return linen(body, (3,))


@library(outputs=10)
def flax_ten_outputs():
    return linen(lambda nn, x: nn.Dense(10)(jnp.tanh(nn.Dense(4)(x))), (3,))


@library(x=SEQUENCE, outputs=2, tags=("relaxed",))
def flax_attention_without_mask():
    def body(nn, x):
        mix = nn.MultiHeadDotProductAttention(2, qkv_features=4, out_features=2)
        return jnp.tanh(mix(x)).mean(axis=1)

    return linen(body, SEQUENCE)


@library(outputs=2)
def flax_own_parameter():
    def body(nn, x):
        class Scaled(nn.Module):
            @nn.compact
            def __call__(self, x):
                start = nn.initializers.normal(dtype=jnp.float32)
                w, gain = self.param("w", start, (3, 4)), self.param("gain", start, ())
                return jnp.tanh(gain * (x @ w))

        return nn.Dense(2)(Scaled()(x))

    return linen(body, (3,))


@library(outputs=2)
def flax_compiled_inside():
    def body(nn, x):
        layer = nn.jit(nn.Dense)(3)
        return nn.Dense(2)(jnp.tanh(layer(jnp.tanh(layer(x)))))

    return linen(body, (3,))


@library(outputs=2)
def flax_branch_on_parameters():
    def body(nn, x):
        class Branch(nn.Module):
            def setup(self):
                self.a, self.b = nn.Dense(2), nn.Dense(2)
                self.pick = self.param("pick", nn.initializers.zeros, (), jnp.float32)

            def __call__(self, x):
                if self.is_initializing():
                    return self.a(x) + self.b(x)
                ways = lambda m, x: jnp.tanh(m.a(x)), lambda m, x: jnp.sin(m.b(x))
                return nn.cond(self.pick > 0, *ways, self, x)

        return nn.Dense(2)(Branch()(x))

    return linen(body, (3,))


@library(x=SEQUENCE, outputs=2)
def flax_one_example_at_a_time():
    def body(nn, x):
        sharing = {"variable_axes": {"params": None}, "split_rngs": {"params": False}}
        return nn.Dense(2)(jnp.tanh(nn.vmap(nn.Dense, **sharing)(3)(x)).mean(axis=1))

    return linen(body, SEQUENCE)


@library(x=IMAGE, outputs=2, tags=("bfloat16",))
def flax_mixed_precision():
    def body(nn, x):
        x = jnp.tanh(nn.Conv(3, (2, 2), dtype=jnp.bfloat16)(x)).mean(axis=(1, 2))
        return nn.Dense(2, dtype=jnp.bfloat16)(x).astype(jnp.float32)

    return linen(body, IMAGE)


@library(x={"image": (2, 2), "vector": (3,)}, outputs=2)
def flax_tree_of_inputs():
    def body(nn, x):
        pixels = nn.Dense(3)(x["image"]).mean(axis=1)
        return nn.Dense(2)(jnp.tanh(pixels + nn.Dense(3)(x["vector"])))

    example = {"image": jnp.zeros((1, 2, 2)), "vector": jnp.zeros((1, 3))}
    return without_adapter(body, example)


@library(outputs=2)
def flax_dropout_off():
    def body(nn, x):
        drop = nn.Dropout(0.5, deterministic=True)
        return nn.Dense(2)(drop(jnp.tanh(nn.Dense(4)(x))))

    return without_adapter(body, jnp.zeros((1, 3)))
