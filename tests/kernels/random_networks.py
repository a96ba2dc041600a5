"""Random small networks on sequences `(n, t, d)`, written so that they can shrink."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax

POINTWISE = {"tanh": jnp.tanh, "sin": jnp.sin, "softplus": jax.nn.softplus}
NARROW = st.integers(1, 3)


class Layer(NamedTuple):
    """One layer.

    Attributes:
        kind: Which.
        width: Features that come out.
        size: Window, heads, repetitions or offset, as the kind needs it.
        pointwise: Activation that follows.
    """

    kind: str
    width: int
    size: int
    pointwise: str


class Network(NamedTuple):
    """Layers one after another, a mean over positions and a dense layer.

    Attributes:
        length: Positions of the input.
        width: Features of the input.
        layers: The layers.
        num_outputs: Number of logits.
        seed: Of parameters and samples.
    """

    length: int
    width: int
    layers: tuple[Layer, ...]
    num_outputs: int
    seed: int

    def shapes(self) -> list[dict[str, tuple[int, ...]]]:
        """Shapes of the parameters, layer by layer."""
        made, width = [], self.width
        for layer in self.layers:
            made.append(SHAPES[layer.kind](width, layer))
            width = layer.width
        return [*made, {"w": (width, self.num_outputs), "b": (self.num_outputs,)}]

    def apply(self, params, x):
        """The network itself."""
        *inner, last = params
        for layer, p in zip(self.layers, inner, strict=True):
            x = POINTWISE[layer.pointwise](APPLY[layer.kind](p, x, layer))
        return x.mean(axis=1) @ last["w"] + last["b"][None]

    def draw(self, n: int, m: int) -> tuple[Any, Any, Any]:
        """Parameters and two sets of samples."""
        rng = np.random.default_rng(self.seed)
        params = jax.tree.map(
            lambda shape: jnp.asarray(rng.normal(size=shape) / 2),
            self.shapes(),
            is_leaf=lambda spec: isinstance(spec, tuple),
        )
        sizes = [(k, self.length, self.width) for k in (n, m)]
        x_1, x_2 = (jnp.asarray(rng.normal(size=size)) for size in sizes)
        return params, x_1, x_2


def _dense(p, x, layer):
    return x @ p["w"] + p["b"][None, None]


def _conv(p, x, layer):
    options = {"window_strides": (1 + layer.width % 2,), "padding": "SAME"}
    layouts = ("NWC", "WIO", "NWC")
    return lax.conv_general_dilated(
        x,
        p["k"],
        **options,
        rhs_dilation=(1 + layer.size % 2,),
        dimension_numbers=layouts,
    )


def _norm(p, x, layer):
    centered = x - x.mean(axis=-1, keepdims=True) * (layer.size % 2)
    size = lax.rsqrt((centered**2).mean(axis=-1, keepdims=True) + 0.1)
    return centered * size * p["g"][None, None] + p["b"][None, None]


def _attention(p, x, layer):
    q, k, v = (jnp.einsum("nti,ihd->nthd", x, p[name]) for name in "qkv")
    scores = jax.nn.softmax(jnp.einsum("nshd,nthd->nhst", q, k), axis=-1)
    return jnp.einsum("nhst,nthd,hdo->nso", scores, v, p["o"])


def _residual(p, x, layer):
    return x + jnp.tanh(x @ p["w"]) @ p["v"]


def _loop(p, x, layer):
    return lax.scan(lambda h, w: (jnp.tanh(h @ w) + x, None), x, p["w"])[0]


def _recurrent(p, x, layer):
    def step(state, now):
        state = jnp.tanh(now @ p["w"] + state @ p["u"])
        return state, state

    start = jnp.zeros((x.shape[0], layer.width), x.dtype)
    return lax.scan(step, start, x.swapaxes(0, 1))[1].swapaxes(0, 1)


def _shared(p, x, layer):
    for _ in range(layer.size):
        x = jnp.sin(x @ p["w"])
    return x


def _scaling(p, x, layer):
    factor = (-1) ** layer.size / np.sqrt(layer.size)
    return p["s"] * (x @ (p["w"] * factor.astype(x.dtype))) * p["g"][None, None]


def _slicing(p, x, layer):
    """Two slices of one weight, which overlap where the offset is small."""
    first = p["w"][: x.shape[-1], : layer.width]
    start = min(layer.size, 2)
    second = p["w"][start : start + layer.width, -layer.width :]
    return jnp.tanh(x @ first) @ second


APPLY = {
    "dense": _dense,
    "conv": _conv,
    "norm": _norm,
    "attention": _attention,
    "residual": _residual,
    "loop": _loop,
    "recurrent": _recurrent,
    "shared": _shared,
    "scaling": _scaling,
    "slicing": _slicing,
}
SHAPES = {
    "dense": lambda d, one: {"w": (d, one.width), "b": (one.width,)},
    "conv": lambda d, one: {"k": (one.size, d, one.width)},
    "norm": lambda d, one: {"g": (d,), "b": (d,)},
    "attention": lambda d, one: {
        **{name: (d, one.size, 2) for name in "qkv"},
        "o": (one.size, 2, one.width),
    },
    "residual": lambda d, one: {"w": (d, one.size), "v": (one.size, d)},
    "loop": lambda d, one: {"w": (one.size, d, d)},
    "recurrent": lambda d, one: {"w": (d, one.width), "u": (one.width, one.width)},
    "shared": lambda d, one: {"w": (d, d)},
    "scaling": lambda d, one: {"w": (d, one.width), "g": (one.width,), "s": ()},
    "slicing": lambda d, one: {"w": (max(d, one.width) + 2, one.width + 1)},
}
KEEPS_WIDTH = ("norm", "residual", "loop", "shared")


@st.composite
def networks(draw) -> Network:
    """Draw a network of one to three layers."""
    start = width = draw(NARROW)
    layers = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(sorted(APPLY)))
        width = width if kind in KEEPS_WIDTH else draw(NARROW)
        size = draw(st.integers(1, 3))
        layers.append(
            Layer(kind, width, size, draw(st.sampled_from(sorted(POINTWISE))))
        )
    outputs, length = draw(st.integers(1, 2)), draw(st.sampled_from([1, 3]))
    return Network(length, start, tuple(layers), outputs, draw(st.integers(0, 2**16)))
