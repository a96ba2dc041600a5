"""What all libraries share: a network with statistics, made into a `Model`."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import DTypeLike

from ..._types import Inputs, Params, PRNGKey, State
from ..contract import check_input_shape
from ..model import ApplyTrain, Model
from ..samples import with_sample
from ..trees import check_same_structure, dtype_of, is_differentiable


def from_stateful(
    init: Callable[[PRNGKey], Params],
    evaluate: Callable[[Params, State, Inputs], Any],
    train: ApplyTrain,
    state_0: State,
    *,
    input_shape: tuple[int, ...] | None = None,
    input_dtype: DTypeLike = jnp.float32,
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
        input_shape: Shape of one sample, to be checked if given.
        input_dtype: What samples are made of.
        name: What the network is called in tables and figures.

    Returns:
        The model.
    """

    def check_input(x):
        if input_shape is not None:
            check_input_shape(x, input_shape)

    def freeze(state):
        check_same_structure("state", state, "init_state()", state_0)

        def apply(params, x):
            check_input(x)
            return evaluate(params, _widen(state, params), x)

        if input_shape is None:
            return apply
        return with_sample(apply, input_shape, input_dtype)

    def apply_train(params, state, x):
        check_input(x)
        check_same_structure("state", state, "init_state()", state_0)
        outputs, new_state = train(params, _widen(state, params), x)
        return outputs, jax.tree.map(_cast_like, new_state, state)

    def init_state():
        return jax.tree.map(jnp.asarray, state_0)

    return Model(init, freeze(state_0), apply_train, freeze, init_state, name)


def _widen(state: State, params: Params) -> State:
    """Return the state at the parameters' precision, where that is higher."""
    dtypes = [dtype_of(leaf) for leaf in jax.tree.leaves(params)]
    dtypes = [dtype for dtype in dtypes if jnp.issubdtype(dtype, jnp.inexact)]
    widest = max(dtypes, key=_num_bits, default=jnp.dtype("float16"))

    def widen(leaf):
        narrow = is_differentiable(leaf) and _num_bits(leaf.dtype) < _num_bits(widest)
        return leaf.astype(widest) if narrow else leaf

    return jax.tree.map(widen, state)


def _num_bits(dtype: jnp.dtype) -> int:
    return jnp.finfo(dtype).bits


def _cast_like(leaf: jax.Array, like: jax.Array) -> jax.Array:
    return leaf.astype(like.dtype)
