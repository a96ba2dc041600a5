"""equinox."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ..._types import PRNGKey
from ..model import Model
from .stateful import from_stateful


def from_equinox(
    build: Callable[[PRNGKey], Any] | tuple[eqx.Module, eqx.nn.State],
    *,
    batched: bool = False,
    axis_name: str = "batch",
    name: str = "network",
) -> Model:
    """Make a `Model` of an equinox module.

    Parameters are its floating-point arrays, in a tree like the module; all else,
    integer arrays too, is constant: that of the module, or of `build(key(0))`. Its
    `equinox.nn.State`, if it has one, becomes the state, and running variances start
    at 1. Dropout layers are off, in training too, since `apply_train` takes no key.

    Args:
        build: `build(key)`, which returns a module `module(x)`, or with statistics
            `(module, state)` as `equinox.nn.make_with_state` does and then
            `module(x, state)`; or what it would return, whose own parameters `init`
            then returns for every key.
        batched: The module maps a batch to (n, c). By default it maps one sample to
            (c,), as equinox's layers do, and is vectorized here.
        axis_name: The name its batch-norm layers give to the batch axis.
        name: What the network is called in tables and figures.

    Returns:
        The model.
    """
    has_key = not isinstance(build, eqx.Module | tuple)

    def make(key) -> tuple[Any, ...]:
        made = build(key) if has_key else build  # pyright: ignore[reportCallIssue]
        return made if isinstance(made, tuple) else (made,)

    module_0, *states = make(jax.random.key(0))
    params_0, static = eqx.partition(module_0, eqx.is_inexact_array)
    state_0 = _unit_variances(module_0, states[0]) if states else {}

    def call(module, state, x):
        def run(x):
            return module(x, state) if states else (module(x), state)

        if batched:
            return run(x)
        return jax.vmap(run, out_axes=(0, None), axis_name=axis_name)(x)

    def init(key):
        # Two builds may differ in static fields; the leaves alone are parameters.
        leaves = jax.tree.leaves(eqx.filter(make(key)[0], eqx.is_inexact_array))
        return jax.tree.unflatten(jax.tree.structure(params_0), leaves)

    def evaluate(params, state, x):
        module = eqx.nn.inference_mode(eqx.combine(params, static))
        return call(module, state, x)[0]

    def train(params, state, x):
        return call(_training_mode(eqx.combine(params, static)), state, x)

    return from_stateful(init, evaluate, train, state_0, name=name)


def _training_mode(module: PyTree) -> PyTree:
    """Return the module with statistics of the batch, but without dropout."""

    def is_dropout(node):
        return isinstance(node, eqx.nn.Dropout)

    return jax.tree.map(
        lambda node: eqx.nn.inference_mode(node) if is_dropout(node) else node,
        eqx.nn.inference_mode(module, value=False),
        is_leaf=is_dropout,
    )


def _unit_variances(module: PyTree, state: eqx.nn.State) -> eqx.nn.State:
    """Return the state with variances 1 where `BatchNorm(mode="ema")` leaves 0.

    Its first training step overwrites them; until then they would divide by 0.
    """

    def is_norm(node):
        return isinstance(node, eqx.nn.BatchNorm)

    state = jax.tree.map(jnp.asarray, state)  # `set` spends the state it is called on
    for node in jax.tree.leaves(module, is_leaf=is_norm):
        if is_norm(node) and node.ema_state_index is not None:
            mean, variance = state.get(node.ema_state_index)
            state = state.set(node.ema_state_index, (mean, jnp.ones_like(variance)))
    return state
