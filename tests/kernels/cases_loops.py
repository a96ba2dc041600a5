"""Networks with loops, branches and calls inside."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .cases import Tokens, network

SEQUENCE = (4, 3)
RECURRENT = {"w": (3, 3), "u": (3, 3), "b": (3,), "v": (3, 1)}


def recur(p, x, **options):
    """Read a batch of sequences with time first; return all states, time first."""

    def step(state, now):
        state = jnp.tanh(now @ p["w"] + state @ p["u"] + p["b"][None])
        return state, state

    return lax.scan(step, jnp.zeros_like(x[0]), x, **options)[1]


@network(RECURRENT, x=SEQUENCE)
def recurrent(p, x):
    return recur(p, x.swapaxes(0, 1))[-1] @ p["v"]


@network(RECURRENT, x=SEQUENCE)
def recurrent_one_example_at_a_time(p, x):
    return jax.vmap(lambda one: recur(p, one[:, None])[-1, 0])(x) @ p["v"]


@network(RECURRENT, x=(70, 3))
def recurrent_with_many_steps(p, x):
    return recur(p, x.swapaxes(0, 1))[-1] @ p["v"]


@network({"w": (3, 2), "a": (2,), "v": (2, 1)}, x=(150, 3))
def many_steps_without_weights_inside(p, x):
    """The loop itself only adds up; its weights come before and after."""
    decay = jax.nn.sigmoid(p["a"])[None]

    def step(state, now):
        return decay * state + now, None

    hidden = (x @ p["w"]).swapaxes(0, 1)
    return lax.scan(step, jnp.zeros_like(hidden[0]), hidden)[0] @ p["v"]


@network({"w": (3, 2), "v": (2, 1)}, x=(3,))
def no_steps(p, x):
    """What it stacks is empty."""

    def step(state, _):
        return jnp.tanh(state), state

    state, states = lax.scan(step, x @ p["w"], None, length=0)
    return (state + states.sum()) @ p["v"]


@network(RECURRENT, x=SEQUENCE)
def recurrent_backward(p, x):
    return recur(p, x.swapaxes(0, 1), reverse=True)[0] @ p["v"]


@network(RECURRENT, x=SEQUENCE)
def recurrent_unrolled_in_part(p, x):
    return recur(p, x.swapaxes(0, 1), unroll=2).mean(axis=0) @ p["v"]


@network({**RECURRENT, "start": (3,)}, x=SEQUENCE)
def recurrent_with_a_learned_start(p, x):
    def step(state, now):
        state = jnp.tanh(now @ p["w"] + state @ p["u"])
        return state, None

    start = jnp.broadcast_to(p["start"][None], (x.shape[0], 3))
    state, _ = lax.scan(step, start, x.swapaxes(0, 1))
    return (state + p["b"][None]) @ p["v"]


@network({"w": (3, 8), "u": (2, 8), "b": (8,), "v": (2, 1)}, x=SEQUENCE)
def long_short_term_memory(p, x):
    def step(carry, now):
        hidden, memory = carry
        gates = now @ p["w"] + hidden @ p["u"] + p["b"][None]
        i, f, g, o = jnp.split(gates, 4, axis=1)
        memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(memory), memory), None

    zeros = jnp.zeros((x.shape[0], 2), x.dtype)
    (hidden, _), _ = lax.scan(step, (zeros, zeros), x.swapaxes(0, 1))
    return hidden @ p["v"]


GATED = {"w": (3, 6), "u": (2, 6), "v": (2, 1)}


def gated(p, x):
    """Read a batch of sequences by gated recurrent units; a body of many equations."""

    def step(state, now):
        new, left, r = jnp.split(jax.nn.sigmoid(now @ p["w"]), 3, axis=1)
        keep, from_state, reset = jnp.split(jax.nn.sigmoid(state @ p["u"]), 3, axis=1)
        seen = jnp.tanh(left + reset * r * from_state)
        return keep * state + (1 - keep) * new * seen, None

    start = jnp.zeros((x.shape[0], 2), x.dtype)
    return lax.scan(step, start, x.swapaxes(0, 1))[0] @ p["v"]


@network(GATED, x=(4, 3))
def gated_recurrent_units(p, x):
    return gated(p, x)


@network(GATED, x=(30, 3))
def gated_recurrent_units_with_many_equations(p, x):
    """Fewer steps than other loops that are unrolled."""
    return gated(p, x)


@network({"w": (4, 3, 3), "b": (4, 3), "v": (3, 1)})
def layers_in_a_loop(p, x):
    def layer(hidden, one):
        return jnp.tanh(hidden @ one["w"] + one["b"][None]), None

    hidden, _ = lax.scan(layer, x, {"w": p["w"], "b": p["b"]})
    return hidden @ p["v"]


@network({"w": (4, 3, 3), "v": (3, 1)})
def layers_in_a_checkpointed_loop(p, x):
    layer = jax.checkpoint(lambda hidden, w: (jnp.tanh(hidden @ w), hidden.sum()))
    hidden, _ = lax.scan(layer, x, p["w"])
    return hidden @ p["v"]


@network({"w": (4, 3, 3), "v": (3, 1)})
def layers_in_a_reversed_loop(p, x):
    layer = lambda hidden, w: (jnp.tanh(hidden @ w), hidden)  # noqa: E731
    hidden, seen = lax.scan(layer, x, p["w"], reverse=True)
    return (hidden + seen.sum(axis=0)) @ p["v"]


@network({"w": (2, 3, 3), "u": (3, 3), "v": (3, 1)}, x=SEQUENCE)
def loop_in_a_loop(p, x):
    def layer(sequence, w):
        def step(state, now):
            state = jnp.tanh(now @ w + state @ p["u"])
            return state, state

        return lax.scan(step, jnp.zeros_like(sequence[0]), sequence)[1], None

    sequence, _ = lax.scan(layer, x.swapaxes(0, 1), p["w"])
    return sequence[-1] @ p["v"]


@network({"w": (3, 3), "v": (3, 1)})
def fixed_number_of_rounds(p, x):
    return lax.fori_loop(0, 3, lambda i, h: jnp.tanh(h @ p["w"]) + x, x) @ p["v"]


@network({"w": (3, 3, 3), "v": (3, 1)})
def rounds_that_index_layers(p, x):
    def layer(i, hidden):
        return jnp.tanh(hidden @ p["w"][i])

    return lax.fori_loop(0, 3, layer, x) @ p["v"]


@network({"w": (3, 3), "v": (3, 1)})
def equilibrium(p, x):
    w = 0.3 * p["w"]
    hidden, _ = lax.scan(
        lambda h, _: (jnp.tanh(h @ w + x), None), jnp.zeros_like(x), length=20
    )
    return hidden @ p["v"]


@network({"w": (3, 2), "v": (2, 1)}, x=SEQUENCE)
def map_over_positions(p, x):
    return lax.map(lambda row: jnp.tanh(row @ p["w"]), x.swapaxes(0, 1)).sum(0) @ p["v"]


@network({"w": (3, 2), "v": (2, 1)})
def map_over_examples(p, x):
    return lax.map(lambda row: jnp.tanh(row @ p["w"]) @ p["v"], x)


@network({"a": (3, 2), "v": (2, 1)}, x=SEQUENCE)
def associative_scan(p, x):
    def compose(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    gates = jax.nn.sigmoid(x @ p["a"])
    return lax.associative_scan(compose, (gates, gates**2), axis=1)[1][:, -1] @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def checkpoint(p, x):
    return jax.checkpoint(lambda w, x: jnp.tanh(x @ w))(p["w"], x) @ p["v"]


@network({"w": (3, 4), "u": (4, 4), "v": (4, 1)})
def checkpoint_with_a_policy(p, x):
    policy = jax.checkpoint_policies.dots_saveable
    block = jax.checkpoint(lambda p, x: jnp.tanh(x @ p["w"]) @ p["u"], policy=policy)
    return jnp.tanh(block(p, x)) @ p["v"]


@network({"w": (3, 3), "v": (3, 1)})
def compiled_inside(p, x):
    layer = jax.jit(lambda w, x: jnp.tanh(x @ w))
    return layer(p["w"], jax.jit(layer)(p["w"], x)) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def barrier(p, x):
    w, x = lax.optimization_barrier((p["w"], x))
    return jnp.tanh(x @ w) @ p["v"]


@network({"w": (3, 3, 4), "v": (3, 4)}, outputs=3)
def ensemble(p, x):
    """Members along the leading axis of the parameters."""
    member = jax.vmap(lambda w, v: jnp.tanh(x @ w) @ v, out_axes=1)
    return member(p["w"], p["v"])


BRANCHES = {"a": (3, 2), "b": (3, 2), "v": (2, 1)}


def branch(p, row):
    positive, negative = (lambda r, w=p[n]: jnp.tanh(r @ w) @ p["v"] for n in "ab")
    return lax.cond(row[0] > 0, positive, lambda r: negative(r) ** 2, row)


@network(BRANCHES, tags=("kinks",))
def branch_on_data(p, x):
    return lax.map(lambda row: branch(p, row), x)


@network(BRANCHES, tags=("kinks",))
def branch_on_data_vectorized(p, x):
    return jax.vmap(lambda row: branch(p, row))(x)


@network(BRANCHES)
def branch_on_parameters(p, x):
    w = lax.cond(p["a"][0, 0] > p["b"][0, 0], lambda: p["a"], lambda: 2 * p["b"])
    hidden = lax.cond(p["v"][0, 0] > 0, jnp.tanh, jnp.sin, x @ w)
    return lax.cond(p["v"][1, 0] > 0, lambda h: h @ p["v"], lambda h: h[:, :1], hidden)


@network(BRANCHES, x={"x": (3,), "which": Tokens((), 3)})
def switch_on_data(p, x):
    ways = [
        lambda row: jnp.tanh(row @ p["a"]) @ p["v"],
        lambda row: jnp.sin(row @ p["b"]) @ p["v"],
        lambda row: (row @ p["a"])[:1],
    ]
    pairs = x["which"], x["x"]
    return lax.map(lambda pair: lax.switch(pair[0], ways, pair[1]), pairs)


@network({"w": (3, 4), "v": (4, 1)})
def data_prepared_by_a_while_loop(p, x):
    """Newton's square root, without a gradient, of a norm."""
    squares = lax.stop_gradient((x**2).sum(axis=1, keepdims=True))
    roots, _ = lax.while_loop(
        lambda carry: carry[1] < 6,
        lambda carry: ((carry[0] + squares / carry[0]) / 2, carry[1] + 1),
        (1 + squares, 0),
    )
    return jnp.tanh((x / roots) @ p["w"]) @ p["v"]


@network({"w": (3, 4), "v": (4, 1)})
def random_projection_made_inside(p, x):
    frame = jax.random.normal(jax.random.key(3), (3, 3), jnp.float64).astype(x.dtype)
    return jnp.tanh(x @ frame @ p["w"]) @ p["v"]


CAPTURED = np.linspace(-1, 1, 9).reshape(3, 3)


@network({"w": (3, 4), "v": (4, 1)})
def captured_constants(p, x):
    return jnp.tanh(x @ jnp.asarray(CAPTURED, x.dtype) @ p["w"]) @ p["v"]
