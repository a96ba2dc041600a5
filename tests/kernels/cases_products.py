"""Weights that meet data in a matrix product, in every layout."""

import jax
import jax.numpy as jnp
from jax import lax

from .cases import Tokens, network


@network({"w": (3, 4), "b": (4,), "v": (4, 1), "c": (1,)})
def dense(p, x):
    return jnp.tanh(x @ p["w"] + p["b"][None]) @ p["v"] + p["c"][None]


@network({"w": (3, 4), "b": (4,), "v": (4, 10), "c": (10,)}, outputs=10)
def dense_ten_outputs(p, x):
    return dense(p, x)


@network({"w": (3, 5), "b": (5,), "v": (5, 2), "c": (2,)}, outputs=2, tags=("kinks",))
def dense_relu(p, x):
    return jnp.maximum(x @ p["w"] + p["b"][None], 0) @ p["v"] + p["c"][None]


@network([(3, 4), (4, 4), (4, 3), (3, 2)], outputs=2)
def dense_deep(weights, x):
    for w in weights[:-1]:
        x = jnp.sin(x @ w)
    return x @ weights[-1]


@network((3, 2), outputs=2)
def linear_model(w, x):
    return x @ w


@network({"w": (4, 3), "v": (2, 4)}, outputs=2)
def weight_on_the_left(p, x):
    hidden = jnp.tanh(jnp.einsum("oi,ni->on", p["w"], x))
    return jnp.matmul(p["v"], hidden).T


@network({"w": (4, 3, 5), "v": (5, 2)}, x=(4, 3), outputs=2)
def several_contracted_axes(p, x):
    return jnp.tanh(jnp.einsum("nij,ijo->no", x, p["w"])) @ p["v"]


@network({"w": (3, 5, 4), "v": (5, 1)}, x=(4, 3))
def contracted_axes_in_another_order(p, x):
    return jnp.tanh(jnp.einsum("nij,joi->no", x, p["w"])) @ p["v"]


@network({"w": (4, 2, 3), "v": (4, 3, 2)}, x=(4, 4, 2), outputs=2)
def weights_per_head(p, x):
    hidden = jnp.tanh(jnp.einsum("bthd,hde->bthe", x, p["w"]))
    return jnp.einsum("bthd,hde->bthe", hidden, p["v"]).sum(axis=(1, 2))


@network({"w": (4, 4, 2, 3), "v": (3,)}, x=(4, 4, 2))
def several_batch_axes(p, x):
    hidden = jnp.tanh(jnp.einsum("nabi,abio->boan", x, p["w"]))
    return jnp.einsum("boan,o->n", hidden, p["v"])[:, None]


@network({"w": (3, 4, 2), "v": (2, 1)}, x=(4, 3))
def batch_axes_swapped(p, x):
    hidden = jnp.tanh(jnp.einsum("nai,iao->ano", x, p["w"]))
    return (hidden @ p["v"]).sum(axis=0)


@network({"w": (3, 4), "v": (4, 2)}, x=(4, 3), outputs=2)
def several_positions(p, x):
    return (jnp.tanh(jnp.einsum("nti,io->not", x, p["w"])).mean(axis=2)) @ p["v"]


@network({"w": (1, 2, 3), "v": (3, 4)}, x=(4, 4, 2))
def broadcast_axes(p, x):
    hidden = jnp.tanh(jnp.matmul(x, p["w"][None]))
    return jnp.einsum("nsij,ji->n", hidden, p["v"])[:, None]


@network({"w": (4,), "v": (3, 4)})
def outer_product_with_data(p, x):
    hidden = jnp.tanh(jnp.einsum("ni,o->nio", x, p["w"]))
    return jnp.einsum("nio,io->n", hidden, p["v"])[:, None]


@network({"w": (3, 3), "v": (3,)})
def diagonal_of_a_weight(p, x):
    return jnp.tanh(jnp.einsum("ii,ni->ni", p["w"], x)) @ p["v"][:, None]


@network((3,))
def vector_times_data(w, x):
    return jnp.tanh(jax.vmap(jnp.vdot, (0, None))(x, w))[:, None]


@network({"w": (3, 4, 2), "v": (2, 4)}, x=(4, 3))
def tensordot(p, x):
    hidden = jnp.tanh(jnp.tensordot(x, p["w"], axes=((2, 1), (0, 1))))
    return jnp.tensordot(hidden, p["v"], axes=1).sum(axis=1, keepdims=True)


@network({"w": (4, 2, 3), "v": (2, 1)}, x=(4, 3))
def dot_general_with_batch_axis(p, x):
    hidden = lax.dot_general(p["w"], x, (((2,), (2,)), ((0,), (1,))))
    return jnp.tanh(hidden).sum(axis=0).T @ p["v"]


@network({"w": (3, 4), "v": (4, 2)}, outputs=2, tags=("bfloat16",))
def preferred_element_type(p, x):
    numbers = (((1,), (0,)), ((), ()))
    low, w, v = (a.astype(jnp.bfloat16) for a in (x, p["w"], p["v"]))
    hidden = lax.dot_general(low, w, numbers, preferred_element_type=jnp.float32)
    hidden = jnp.tanh(hidden).astype(jnp.bfloat16)
    return lax.dot_general(hidden, v, numbers, preferred_element_type=jnp.float32)


@network({"w": (3, 4), "v": (4, 2)}, outputs=2)
def preferred_double_precision(p, x):
    hidden = jnp.matmul(x, p["w"], preferred_element_type=jnp.float64)
    return jnp.tanh(hidden).astype(x.dtype) @ p["v"]


@network({"w": (3, 4), "b": (4,), "v": (4, 2)}, outputs=2, tags=("bfloat16",))
def mixed_precision(p, x):
    low = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (p, x))
    p, x = low
    return (jnp.tanh(x @ p["w"] + p["b"][None]) @ p["v"]).astype(jnp.float32)


@network({"w": (3, 3), "v": (3, 2)}, x=(4, 3), outputs=2, tags=("bfloat16",))
def mixed_precision_at_positions(p, x):
    w, v, x = (a.astype(jnp.bfloat16) for a in (p["w"], p["v"], x))
    hidden = jnp.tanh(jnp.tanh(x @ w) @ w).mean(axis=1)
    return hidden.astype(jnp.float32) @ v.astype(jnp.float32)


@network((3, 3))
def bilinear_form(w, x):
    return jnp.einsum("ni,ij,nj->n", x, w, x)[:, None]


@network({"a": (3, 4), "b": (3, 4)}, x=(4, 3))
def data_in_both_operands(p, x):
    left, right = x @ p["a"], jnp.sin(x @ p["b"])
    return jnp.einsum("nsi,nti->nst", left, right).sum(axis=(1, 2))[:, None]


@network({"a": (3,), "b": (4, 1)}, x=(4, 3))
def parameters_in_both_operands(p, x):
    left, right = x * p["a"][None, None], x * p["b"][None]
    return (left @ right.swapaxes(1, 2)).sum(axis=2)[:, :1]


@network((3, 4), x=(4, 3))
def one_weight_in_both_operands(w, x):
    hidden = x @ w
    return jnp.einsum("nsi,nti->nst", hidden, hidden)[:, 0, 1:2]


@network({"a": (3, 4), "b": (4, 2)}, outputs=2)
def three_operands_two_weights(p, x):
    return jnp.sin(jnp.einsum("ni,ij,jo->no", x, p["a"], p["b"]))


@network({"a": (3, 4), "b": (3, 4)}, x={"left": (3,), "right": (3,)})
def three_operands_shared_axis(p, x):
    factors = x["left"], x["right"], p["a"], p["b"]
    return jnp.einsum("ni,nj,ir,jr->n", *factors)[:, None]


@network({"w": (5, 3), "v": (3, 2)}, x=Tokens((4,), 5), outputs=2)
def embedding_lookup(p, x):
    return jnp.tanh(p["w"][x].mean(axis=1)) @ p["v"]


@network({"w": (5, 3), "v": (3, 2)}, x=Tokens((4,), 5), outputs=2)
def embedding_by_one_hot(p, x):
    hot = jax.nn.one_hot(x, 5, dtype=p["w"].dtype)
    return jnp.tanh(hot @ p["w"]).mean(axis=1) @ p["v"]


@network((5, 3), x=Tokens((4,), 5), outputs=5)
def embedding_tied_to_readout(w, x):
    return jnp.tanh(w[x].mean(axis=1)) @ w.T


@network({"w": (3, 3), "v": (3, 1)})
def transposed_and_not(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w"]) @ p["w"].T) @ p["v"]


@network({"w": (3, 3), "v": (3, 1)})
def layer_used_twice(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w"]) @ p["w"]) @ p["v"]


@network({"w": (3, 3), "v": (3, 1)}, x=(4, 3))
def layer_used_twice_at_positions(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w"]).mean(axis=1) @ p["w"]) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)}, x={"a": (3,), "b": (3,)})
def twin_networks(p, x):
    left, right = jnp.tanh(x["a"] @ p["w"]), jnp.tanh(x["b"] @ p["w"])
    return (left - right) @ p["v"]


@network((3, 2), tags=("zero",))
def uses_that_cancel(w, x):
    return (x @ w - x @ w).sum(axis=1, keepdims=True)
