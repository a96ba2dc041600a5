"""flax linen."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import DTypeLike

from ..model import Model
from .initialization import compile_init
from .stateful import from_stateful


def from_flax(
    module: Any,
    input_shape: tuple[int, ...],
    *,
    eval_kwargs: Mapping[str, Any] | None = None,
    train_kwargs: Mapping[str, Any] | None = None,
    input_dtype: DTypeLike = jnp.float32,
    name: str = "network",
) -> Model:
    """Make a `Model` of a flax linen module.

    Parameters are those of the collection `params`; the collection `batch_stats`, if
    there is one, becomes the state. Dropout layers are off, in training too, since
    `apply_train` takes no random key.

    Whoever passes `module.apply` and all its `variables` to a kernel instead has the
    statistics differentiated like parameters: leave them out there, with
    `trainable={"params": True, "batch_stats": False}`.

    Args:
        module: A `flax.linen.Module` that maps a batch to (n, c).
        input_shape: Shape of one sample.
        eval_kwargs: Arguments of the call that make the module use its running
            averages, such as `{"train": False}`.
        train_kwargs: Arguments of the call in training, such as `{"train": True}`;
            required if the module has batch statistics.
        input_dtype: What samples are made of; an integer type for tokens.
        name: What the network is called in tables and figures.

    Returns:
        The model.

    Raises:
        ValueError: If the module keeps variables other than parameters and batch
            statistics, or has statistics but `train_kwargs` is not given.
    """
    eval_kwargs = dict(eval_kwargs or {})
    example = jnp.zeros((1, *input_shape), input_dtype)

    def init_variables(key):
        with _without_dropout():
            return module.init(key, example, **eval_kwargs)

    key_0 = jax.random.key(0)
    collections = set(jax.eval_shape(init_variables, key_0)) - {"params"}
    _check_collections(collections, train_kwargs)
    train_kwargs = dict(train_kwargs or {})
    state_0 = jax.jit(lambda: _only(init_variables(key_0), collections))()

    def evaluate(params, state, x):
        with _without_dropout(), _explain_updates(eval_kwargs):
            return module.apply({"params": params, **state}, x, **eval_kwargs)

    def train(params, state, x):
        variables = {"params": params, **state}
        with _without_dropout():
            outputs, changed = module.apply(
                variables, x, mutable=sorted(collections), **train_kwargs
            )
        return outputs, dict(changed)

    init = compile_init(lambda key: init_variables(key).get("params", {}))
    return from_stateful(
        init,
        evaluate,
        train,
        state_0,
        input_shape=input_shape,
        input_dtype=input_dtype,
        name=name,
    )


def _only(variables: Mapping[str, Any], collections: set[str]) -> dict[str, Any]:
    return {name: variables[name] for name in sorted(collections)}


def _check_collections(collections: set[str], train_kwargs: Any) -> None:
    others = collections - {"batch_stats"}
    if others:
        raise ValueError(
            "The network keeps variables besides `params` and `batch_stats`: "
            f"{', '.join(sorted(others))}. Make them parameters or constants, or write "
            "the `Model` by hand."
        )
    if collections and train_kwargs is None:
        raise ValueError(
            "The network has batch statistics, so say how it is called in training: "
            "pass train_kwargs, such as {'train': True} ({} if it needs none)."
        )


def _without_dropout() -> AbstractContextManager[None]:
    import flax.linen as nn

    def skip(next_function, args, kwargs, context):
        if isinstance(context.module, nn.Dropout) and context.method_name == "__call__":
            return args[0] if args else kwargs["inputs"]
        return next_function(*args, **kwargs)

    return nn.intercept_methods(skip)


@contextmanager
def _explain_updates(eval_kwargs: dict[str, Any]) -> Iterator[None]:
    import flax.errors

    try:
        yield
    except flax.errors.ModifyScopeVariableError as error:
        raise ValueError(
            "The network updates its batch statistics in evaluation too, with "
            f"eval_kwargs={eval_kwargs}: pass those that make it use running averages, "
            "such as eval_kwargs={'train': False}."
        ) from error
