"""What all libraries share: a network with statistics, made into a `Model`."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..._types import Inputs, Params, PRNGKey, State
from ..model import ApplyTrain, Model
from ..trees import check_same_structure, is_differentiable


def from_stateful(
    init: Callable[[PRNGKey], Params],
    evaluate: Callable[[Params, State, Inputs], Any],
    train: ApplyTrain,
    state_0: State,
    *,
    name: str,
) -> Model:
    """Make a `Model` of functions that take parameters, state and a batch.

    Statistics are computed at the parameters' precision where that is higher, and
    returned at the precision they came in, so that a state keeps its dtypes.

    Args:
        init: `init(key) -> params`.
        evaluate: `evaluate(params, state, x) -> (n, c)`, statistics as in `state`.
        train: `train(params, state, x) -> (outputs, state)`, statistics of the batch.
        state_0: The initial statistics; an empty dict if there are none.
        name: What the network is called in tables and figures.

    Returns:
        The model.
    """

    def freeze(state):
        check_same_structure("state", state, "init_state()", state_0)
        return lambda params, x: evaluate(params, _widen(state, params), x)

    def apply_train(params, state, x):
        check_same_structure("state", state, "init_state()", state_0)
        outputs, new_state = train(params, _widen(state, params), x)
        return outputs, jax.tree.map(_cast_like, new_state, state)

    def init_state():
        return jax.tree.map(jnp.asarray, state_0)

    return Model(init, freeze(state_0), apply_train, freeze, init_state, name)


def _widen(state: State, params: Params) -> State:
    """Return the state at the parameters' precision, where that is higher."""
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(params) if is_differentiable(leaf)]
    widest = max(dtypes, key=_num_bits, default=jnp.dtype("float16"))

    def widen(leaf):
        narrow = is_differentiable(leaf) and _num_bits(leaf.dtype) < _num_bits(widest)
        return leaf.astype(widest) if narrow else leaf

    return jax.tree.map(widen, state)


def _num_bits(dtype: jnp.dtype) -> int:
    return jnp.finfo(dtype).bits


def _cast_like(leaf: jax.Array, like: jax.Array) -> jax.Array:
    return leaf.astype(like.dtype)
