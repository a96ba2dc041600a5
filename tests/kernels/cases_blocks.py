"""Building blocks of real networks: normalization, attention, residual branches."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .cases import Tokens, network

SEQUENCE = (4, 3)


def standardize(x, axes):
    mean = x.mean(axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-3)


def attend(q, k, v, mask=None):
    """Heads on the last but one axis."""
    scores = jnp.einsum("nshd,nthd->nhst", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = jnp.where(mask[None, None], scores, -jnp.inf)
    return jnp.einsum("nhst,nthd->nshd", jax.nn.softmax(scores, axis=-1), v)


def lower_triangle(size):
    return np.tril(np.ones((size, size), bool))


@network({"w": (3, 3), "u": (3, 3), "v": (3, 1)})
def residual(p, x):
    x = x + jnp.tanh(x @ p["w"])
    return (x + jnp.tanh(x @ p["u"])) @ p["v"]


@network({"w": (3, 3), "v": (3, 1)})
def residual_with_a_shared_layer(p, x):
    for _ in range(3):
        x = x + 0.5 * jnp.tanh(x @ p["w"])
    return x @ p["v"]


@network({"w": (3, 3), "t": (3, 3), "v": (3, 1)})
def highway(p, x):
    gate = jax.nn.sigmoid(x @ p["t"])
    return (gate * jnp.tanh(x @ p["w"]) + (1 - gate) * x) @ p["v"]


@network({"w": (3, 4), "g": (4,), "b": (4,), "v": (4, 1)})
def layer_norm(p, x):
    hidden = standardize(x @ p["w"], (1,)) * p["g"][None] + p["b"][None]
    return jnp.tanh(hidden) @ p["v"]


@network({"w": (3, 4), "g": (4,), "v": (4, 1)}, x=SEQUENCE)
def layer_norm_at_positions(p, x):
    hidden = standardize(x @ p["w"], (2,)) * p["g"][None, None]
    return jnp.tanh(hidden).mean(axis=1) @ p["v"]


@network({"w": (3, 4), "g": (4,), "v": (4, 1)})
def rms_norm(p, x):
    hidden = x @ p["w"]
    size = lax.rsqrt((hidden**2).mean(axis=1, keepdims=True) + 1e-3)
    return jnp.tanh(hidden * size * p["g"][None]) @ p["v"]


@network({"k": (3, 3, 2, 4), "g": (4,), "b": (4,), "v": (4, 1)}, x=(4, 4, 2))
def group_norm(p, x):
    layouts = ("NHWC", "HWIO", "NHWC")
    images = lax.conv_general_dilated(
        x, p["k"], (1, 1), "SAME", dimension_numbers=layouts
    )
    normed = standardize(images.reshape(-1, 16, 2, 2), (1, 3)).reshape(images.shape)
    normed = normed * p["g"][None, None, None] + p["b"][None, None, None]
    return jnp.tanh(normed).mean(axis=(1, 2)) @ p["v"]


@network(
    {"w": (3, 4), "g": (4,), "b": (4,), "mean": (4,), "deviation": (4,), "v": (4, 1)},
    trainable={name: name not in ("mean", "deviation") for name in
               ("w", "g", "b", "mean", "deviation", "v")},
)  # fmt: skip
def batch_norm_frozen(p, x):
    inverse = lax.rsqrt(p["deviation"] ** 2 + 1e-3)
    hidden = (x @ p["w"] - p["mean"][None]) * (inverse * p["g"])[None] + p["b"][None]
    return jnp.tanh(hidden) @ p["v"]


HEADS = {"q": (3, 2, 2), "k": (3, 2, 2), "v": (3, 2, 2), "o": (2, 2, 2)}


def heads_of(p, x):
    return [jnp.einsum("nsi,ihd->nshd", x, p[name]) for name in "qkv"]


@network(HEADS, x=SEQUENCE, outputs=2)
def attention(p, x):
    mixed = attend(*heads_of(p, x))
    return jnp.einsum("nshd,hdo->nso", mixed, p["o"]).mean(axis=1)


@network(HEADS, x=SEQUENCE, outputs=2)
def attention_causal(p, x):
    q, k, v = heads_of(p, x)
    mixed = attend(q, k, v, lower_triangle(4))
    return jnp.einsum("nshd,hdo->nso", mixed, p["o"])[:, -2]


@network({"qkv": (3, 12), "o": (4, 2)}, x=SEQUENCE, outputs=2)
def attention_with_split_projection(p, x):
    q, k, v = jnp.split((x @ p["qkv"]).reshape(-1, 4, 6, 2), 3, axis=2)
    return jnp.tanh(attend(q, k, v).reshape(-1, 4, 4) @ p["o"]).mean(axis=1)


@network({"qkv": (3, 12), "o": (4, 2)}, x=SEQUENCE, outputs=2)
def attention_with_sliced_weight(p, x):
    q, k, v = ((x @ p["qkv"][:, i : i + 4]).reshape(-1, 4, 2, 2) for i in (0, 4, 8))
    return jnp.tanh(attend(q, k, v).reshape(-1, 4, 4) @ p["o"]).mean(axis=1)


@network({"qkv": (3, 8), "o": (4, 2)}, x=SEQUENCE, outputs=2)
def attention_with_overlapping_slices(p, x):
    q, k, v = ((x @ p["qkv"][:, i : i + 4]).reshape(-1, 4, 2, 2) for i in (0, 2, 4))
    return jnp.tanh(attend(q, k, v).reshape(-1, 4, 4) @ p["o"]).mean(axis=1)


@network({"qkv": (3, 3, 2, 2), "o": (4, 2)}, x=SEQUENCE, outputs=2)
def attention_with_stacked_weights(p, x):
    q, k, v = (jnp.einsum("nsi,ihd->nshd", x, w) for w in p["qkv"])
    return attend(q, k, v).reshape(-1, 4, 4).mean(axis=1) @ p["o"]


@network({"q": (3, 2, 2), "k": (3, 2), "v": (3, 2), "o": (4, 2)}, x=SEQUENCE, outputs=2)
def attention_with_one_key_head(p, x):
    q = jnp.einsum("nsi,ihd->nshd", x, p["q"])
    k, v = (jnp.repeat((x @ p[name])[:, :, None], 2, axis=2) for name in "kv")
    return attend(q, k, v).reshape(-1, 4, 4).mean(axis=1) @ p["o"]


@network({"queries": (2, 2), "k": (3, 2), "v": (3, 2), "o": (2, 1)}, x=SEQUENCE)
def attention_by_learned_queries(p, x):
    scores = jnp.einsum("sd,ntd->nst", p["queries"], x @ p["k"])
    mixed = jax.nn.softmax(scores, axis=-1) @ (x @ p["v"])
    return jnp.tanh(mixed).sum(axis=1) @ p["o"]


@network(HEADS, x={"x": SEQUENCE, "length": Tokens((), 4)}, outputs=2)
def attention_masked_by_data(p, x):
    q, k, v = heads_of(p, x["x"])
    seen = jnp.arange(4, dtype=jnp.int32)[None] <= x["length"][:, None]
    scores = jnp.einsum("nshd,nthd->nhst", q, k)
    scores = jnp.where(seen[:, None, None], scores, -1e9)
    mixed = jnp.einsum("nhst,nthd->nshd", jax.nn.softmax(scores, axis=-1), v)
    return jnp.einsum("nshd,hdo->nso", mixed, p["o"]).mean(axis=1)


@network({"q": (3, 2), "k": (3, 2), "v": (3, 2), "o": (2, 1)}, x=SEQUENCE)
def attention_linear(p, x):
    q, k, v = jax.nn.softplus(x @ p["q"]), jax.nn.softplus(x @ p["k"]), x @ p["v"]
    mixed = q @ jnp.einsum("ntd,nte->nde", k, v)
    norm = jnp.einsum("nsd,nd->ns", q, k.sum(axis=1))
    return (mixed / norm[..., None]).mean(axis=1) @ p["o"]


@network(
    {
        "embed": (5, 4), "place": (4, 4), "g": (4,), "h": (4,),
        "qkv": (4, 12), "o": (4, 4), "up": (4, 5), "down": (5, 4),
    },
    x=Tokens((4,), 5),
    outputs=5,
)  # fmt: skip
def transformer(p, x):
    x = p["embed"][x] + p["place"][None]
    normed = standardize(x, (2,)) * p["g"][None, None]
    q, k, v = jnp.split((normed @ p["qkv"]).reshape(-1, 4, 6, 2), 3, axis=2)
    mixed = attend(q, k, v, lower_triangle(4)).reshape(-1, 4, 4)
    x = x + mixed @ p["o"]
    normed = standardize(x, (2,)) * p["h"][None, None]
    x = x + jax.nn.gelu(normed @ p["up"]) @ p["down"]
    return x[:, -1] @ p["embed"].T


@network({"channels": (3, 3), "places": (4, 4), "v": (3, 1)}, x=SEQUENCE)
def mixer(p, x):
    x = jnp.tanh(x @ p["channels"])
    x = jnp.tanh(x.swapaxes(1, 2) @ p["places"]).swapaxes(1, 2)
    return jnp.tanh(x @ p["channels"]).mean(axis=1) @ p["v"]


@network({"k": (3, 3, 2, 4), "a": (4, 2), "b": (2, 4), "v": (4, 1)}, x=(4, 4, 2))
def squeeze_and_excite(p, x):
    layouts = ("NHWC", "HWIO", "NHWC")
    images = jnp.tanh(
        lax.conv_general_dilated(x, p["k"], (1, 1), "SAME", dimension_numbers=layouts)
    )
    gate = jax.nn.sigmoid(jnp.tanh(images.mean(axis=(1, 2)) @ p["a"]) @ p["b"])
    return (images * gate[:, None, None]).mean(axis=(1, 2)) @ p["v"]


def drop(hidden, shape, rate=0.5):
    """Dropout with a mask of a shape that fits the features."""
    keep = jax.random.bernoulli(jax.random.key(0), 1 - rate, shape)
    return hidden * keep.astype(hidden.dtype) / (1 - rate)


@network({"w": (3, 4), "v": (4, 1), "off": np.array(True)})
def dropout_off(p, x):
    hidden = jnp.tanh(x @ p["w"])
    return jnp.where(p["off"], hidden, drop(hidden, hidden.shape)) @ p["v"]


@network({"w": (3, 4), "v": (4, 1), "off": np.array(True)})
def dropout_off_by_a_branch(p, x):
    hidden = jnp.tanh(x @ p["w"])
    ways = lambda h: h, lambda h: drop(h, h.shape)
    return lax.cond(p["off"], *ways, hidden) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def dropout_with_a_fixed_mask(p, x):
    return drop(jnp.tanh(x @ p["w"]), (1, 4)) @ p["v"]
