"""flax nnx."""

from collections.abc import Callable
from typing import Any

from ..model import Model
from .stateful import from_stateful


def from_nnx(build: Callable[[Any], Any], *, name: str = "network") -> Model:
    """Make a `Model` of a flax nnx module.

    Parameters are its `nnx.Param` variables, as nested dicts; its `nnx.BatchStat`
    variables become the state. All other variables, such as buffers and random
    streams, are constants: those of the module, or of `build(nnx.Rngs(0))`. Nothing
    changes the module itself. Dropout layers are off, in training too, since
    `apply_train` takes no random key.

    Args:
        build: `build(rngs) -> module`, where the module maps a batch to (n, c); or
            such a module, whose own parameters `init` then returns for every key.
        name: What the network is called in tables and figures.

    Returns:
        The model.
    """
    from flax import nnx

    def make(key) -> Any:
        return build if isinstance(build, nnx.Module) else build(nnx.Rngs(key))

    # Pure dicts hold no variables: a module merged from them shares none with another.
    graph, *groups = nnx.split(make(0), nnx.Param, nnx.BatchStat, ...)
    _, state_0, constants = map(nnx.to_pure_dict, groups)

    def merge(params, state, *, train):
        module = nnx.merge(graph, params, state, constants)
        module.set_attributes(
            use_running_average=not train, deterministic=True, raise_if_not_found=False
        )
        return module

    def init(key):
        return nnx.to_pure_dict(nnx.state(make(key), nnx.Param))

    def evaluate(params, state, x):
        return merge(params, state, train=False)(x)

    def train(params, state, x):
        module = merge(params, state, train=True)
        outputs = module(x)
        return outputs, nnx.to_pure_dict(nnx.state(module, nnx.BatchStat))

    return from_stateful(init, evaluate, train, state_0, name=name)
