"""Parameters that meet data outside of matrix products."""

import jax
import jax.numpy as jnp
from jax import lax

from .cases import Tokens, network


@network({"g": (), "w": (3, 2)})
def scalar_times_data(p, x):
    return (p["g"] * jnp.tanh(x @ p["w"])).sum(axis=1, keepdims=True)


@network({"b": (3,), "w": (3, 1)})
def vector_added_to_data(p, x):
    return jnp.tanh(x + p["b"][None]) @ p["w"]


@network({"a": (3,), "b": (3,), "c": (3,)}, outputs=3)
def scaled_shifted_divided(p, x):
    return (x * p["a"][None] - p["b"][None]) / (2 + p["c"][None] ** 2)


@network((3,), outputs=3)
def parameter_over_data(w, x):
    return w[None] / (1 + x**2)


@network({"c": (4, 3), "s": (4,), "v": (4, 1)})
def radial_basis(p, x):
    squares = ((x[:, None] - p["c"][None]) ** 2).sum(axis=2)
    return jnp.exp(-squares * p["s"][None] ** 2) @ p["v"]


@network({"b": (), "w": (3, 4), "v": (4, 1)})
def swish_with_a_slope(p, x):
    hidden = x @ p["w"]
    return (hidden * jax.nn.sigmoid(p["b"] * hidden)) @ p["v"]


@network({"a": (4,), "w": (3, 4), "v": (4, 1)}, tags=("kinks",))
def relu_with_a_slope(p, x):
    hidden = x @ p["w"]
    return jnp.where(hidden > 0, hidden, p["a"][None] * hidden) @ p["v"]


@network({"a": (3,), "b": (3,), "v": (3, 1)}, tags=("kinks",))
def chosen_by_data(p, x):
    a, b = (jnp.broadcast_to(p[name][None], x.shape) for name in "ab")
    return jnp.where(x > 0, a, b * x) @ p["v"]


@network({"w": (3,), "v": (3, 1)}, tags=("kinks",))
def maximum_of_data_and_parameter(p, x):
    return jnp.maximum(x, p["w"][None]) @ p["v"]


@network({"w": (3,), "v": (3, 1)}, tags=("kinks",))
def clipped_by_parameters(p, x):
    return jnp.clip(x, -jnp.abs(p["w"])[None], jnp.abs(p["w"])[None]) @ p["v"]


@network({"w": (3,), "u": (3,)}, outputs=3)
def power_and_angle(p, x):
    return (1 + x**2) ** p["w"][None] + jnp.arctan2(x, 2 + p["u"][None])


@network({"b": (4,), "w": (3, 4)})
def log_of_a_sum(p, x):
    return jax.nn.logsumexp(x @ p["w"] + p["b"][None], axis=1, keepdims=True)


@network({"a": (3, 4), "b": (3, 4), "v": (4, 1)})
def product_of_two_layers(p, x):
    return (jax.nn.sigmoid(x @ p["a"]) * (x @ p["b"])) @ p["v"]


@network({"a": (3, 4), "f": (4,), "v": (4, 1)})
def fourier_features(p, x):
    return (jnp.sin(x @ p["a"]) * jnp.cos(p["f"][None])) @ p["v"]


@network((4, 3), x=(4, 3), outputs=3)
def spectrum_of_data(w, x):
    kept = jnp.fft.fft(x, axis=1) * lax.complex(w, 0 * w)[None]
    return jnp.tanh(jnp.fft.ifft(kept, axis=1).real).mean(axis=1)


@network((4, 3), x=(4, 3), outputs=3)
def circular_convolution_by_spectra(w, x):
    product = jnp.fft.rfft(x, axis=1) * jnp.fft.rfft(w, axis=0)[None]
    return jnp.tanh(jnp.fft.irfft(product, n=4, axis=1)).sum(axis=1)


@network({"real": (3, 4), "imaginary": (3, 4)}, outputs=4)
def complex_weight(p, x):
    w = lax.complex(p["real"], p["imaginary"])
    return jnp.abs(lax.complex(x, x[:, ::-1]) @ w) ** 2


@network({"w": (3, 4)}, outputs=4)
def weight_turned_by_a_complex_number(p, x):
    w = lax.complex(p["w"], jnp.zeros_like(p["w"])) * (2j - 1)
    return jnp.sin((lax.complex(x, x**2) @ w).imag)


@network({"w": (3,), "v": (3, 1)}, x=(4, 3))
def cumulative_sum_of_data(p, x):
    return jnp.tanh(jnp.cumsum(x * p["w"][None, None], axis=1)).mean(axis=1) @ p["v"]


@network({"w": (3, 2), "v": (2, 1)}, x=(4, 3))
def cumulative_products(p, x):
    gates = jax.nn.sigmoid(x @ p["w"])
    return jnp.cumprod(gates, axis=1).sum(axis=1) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def sorted_data(p, x):
    return jnp.tanh(jnp.sort(x, axis=1) @ p["w"]) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)}, tags=("kinks",))
def sorted_hidden_units(p, x):
    return jnp.sort(x @ p["w"], axis=1) @ p["v"]


@network({"w": (3, 4), "v": (2, 1)}, tags=("kinks",))
def largest_hidden_units(p, x):
    return lax.top_k(x @ p["w"], 2)[0] @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def gathered_data(p, x):
    return jnp.tanh(x[:, jnp.array([2, 0, 2])] @ p["w"]) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)}, x={"x": (3,), "order": Tokens((3,), 3)})
def data_gathered_by_data(p, x):
    picked = jnp.take_along_axis(x["x"], x["order"], axis=1)
    return jnp.tanh(picked @ p["w"]) @ p["v"]


@network({"w": (4, 3), "v": (3, 1)}, x={"x": (3,), "slot": Tokens((), 4)})
def parameter_row_picked_by_data(p, x):
    return jnp.tanh(x["x"] * p["w"][x["slot"]]) @ p["v"]


@network({"w": (4, 3, 2), "v": (2, 1)}, x=(3,), tags=("kinks",))
def expert_picked_by_data(p, x):
    best = jnp.argmax(jnp.abs(x), axis=1)
    return jnp.tanh(jnp.einsum("ni,nio->no", x, p["w"][best])) @ p["v"]


@network({"w": (4, 3, 2), "r": (3, 4), "v": (2, 1)})
def mixture_of_experts(p, x):
    share = jax.nn.softmax(x @ p["r"], axis=1)
    hidden = jnp.tanh(jnp.einsum("ni,eio->neo", x, p["w"]))
    return jnp.einsum("ne,neo->no", share, hidden) @ p["v"]


@network({"cls": (3,), "place": (5, 3), "w": (3, 1)}, x=(4, 3))
def token_put_before_data(p, x):
    first = jnp.broadcast_to(p["cls"][None, None], (x.shape[0], 1, 3))
    tokens = jnp.concatenate([first, x], axis=1) + p["place"][None]
    return jnp.tanh(tokens).mean(axis=1) @ p["w"]


@network({"w": (2,), "u": (3,), "v": (3, 1)})
def written_into_data(p, x):
    x = x.at[:, 1:].set(jnp.broadcast_to(p["w"][None], (x.shape[0], 2)))
    x = x.at[:, jnp.array([0, 0, 2])].add(jnp.tanh(x) * p["u"][None])
    return jnp.tanh(x) @ p["v"]


@network({"w": (1, 2), "v": (3, 1)})
def data_updated_at_a_place(p, x):
    rows = jnp.broadcast_to(p["w"], (x.shape[0], 2))
    return jnp.tanh(lax.dynamic_update_slice(x**2, rows, (0, 1))) @ p["v"]


@network({"b": (2,)}, outputs=2)
def bias_alone(p, x):
    return jnp.broadcast_to(jnp.exp(p["b"])[None], (x.shape[0], 2))


@network({"w": (3, 2), "b": ()}, outputs=3)
def one_logit_without_data(p, x):
    constant = jnp.full((x.shape[0], 1), 1.0, x.dtype) * p["b"]
    return jnp.concatenate([jnp.tanh(x @ p["w"]), constant], axis=1)


@network({"w": (3, 2)}, outputs=3)
def one_logit_without_parameters(p, x):
    return jnp.concatenate([jnp.tanh(x @ p["w"]), x[:, :1]], axis=1)


@network({"w": (3, 2), "unused": (5,)}, outputs=2)
def unused_parameter(p, x):
    return jnp.tanh(x @ p["w"])


@network({"w": (2, 3)}, outputs=3, tags=("zero",))
def no_parameter_reaches_the_output(p, x):
    return jnp.tanh(x)


@network({"w": (3, 2), "none": (0, 4)}, outputs=2)
def parameter_without_elements(p, x):
    return jnp.tanh(x @ p["w"]) + p["none"].sum()


@network({"w": (3, 3), "v": (1, 1)})
def scalars_in_disguise(p, x):
    return jnp.tanh(jnp.trace(p["w"]) * x[:, :1]) @ p["v"]
