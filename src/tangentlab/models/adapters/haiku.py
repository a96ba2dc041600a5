"""haiku."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import DTypeLike

from ..._types import State
from ..model import Model
from .initialization import compile_init
from .stateful import from_stateful


def from_haiku(
    function: Any,
    input_shape: tuple[int, ...],
    *,
    eval_kwargs: Mapping[str, Any] | None = None,
    train_kwargs: Mapping[str, Any] | None = None,
    input_dtype: DTypeLike = jnp.float32,
    name: str = "network",
) -> Model:
    """Make a `Model` of a haiku function.

    Haiku's state becomes the state, and running variances start at 1. There is no
    random key: a function that asks for one (dropout) fails with haiku's message, so
    switch dropout off by an argument of its own.

    Args:
        function: A function of a batch that calls haiku modules and returns (n, c),
            or what `hk.transform` or `hk.transform_with_state` made of it.
        input_shape: Shape of one sample.
        eval_kwargs: Arguments of the function that make it use its running averages,
            such as `{"is_training": False}`.
        train_kwargs: Its arguments in training, such as `{"is_training": True}`;
            also used to initialize, as haiku requires. Default: `eval_kwargs`.
        input_dtype: What samples are made of; an integer type for tokens.
        name: What the network is called in tables and figures.

    Returns:
        The model.

    Raises:
        ValueError: If the function has state but `train_kwargs` is not given.
    """
    transformed = _transform(function)
    eval_kwargs = dict(eval_kwargs or {})
    init_kwargs = eval_kwargs if train_kwargs is None else dict(train_kwargs)
    example = jnp.zeros((1, *input_shape), input_dtype)

    def init_variables(key):
        return transformed.init(key, example, **init_kwargs)

    state_0 = jax.jit(lambda: init_variables(jax.random.key(0))[1])()
    if state_0 and train_kwargs is None:
        raise ValueError(
            "The network has state, so say how it is called in training: pass "
            "train_kwargs, such as {'is_training': True} ({} if it needs none)."
        )

    def evaluate(params, state, x):
        return transformed.apply(params, state, None, x, **eval_kwargs)[0]

    def train(params, state, x):
        return transformed.apply(params, state, None, x, **init_kwargs)

    init = compile_init(lambda key: init_variables(key)[0])
    state_0 = _unit_variances(state_0)
    return from_stateful(
        init,
        evaluate,
        train,
        state_0,
        input_shape=input_shape,
        input_dtype=input_dtype,
        name=name,
    )


def _transform(function: Any) -> Any:
    import haiku as hk

    if isinstance(function, hk.Transformed):
        return hk.with_empty_state(function)
    if isinstance(function, hk.TransformedWithState):
        return function
    return hk.transform_with_state(function)


def _unit_variances(state: State) -> State:
    """Return the state with variances 1 where `hk.BatchNorm` leaves 0.

    Its first training step overwrites them; until then they would divide by 0.
    """
    return {
        module: {
            name: jnp.ones_like(value)
            if (module.split("/")[-1], name) == ("var_ema", "average")
            else value
            for name, value in values.items()
        }
        for module, values in state.items()
    }
