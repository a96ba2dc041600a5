"""Programs that an accelerator compiles in seconds.

For every matrix product XLA builds and times dozens of Triton programs before it takes
one. On an H200 that took 60 s for the Gram matrix of a ResNet18 and 26 s in place of 2
for an epoch of 32 LeNets, and the vendor's products, which are asked for here, were as
fast. Steps of small MLPs take a sixth longer with them, less in 100 epochs than the
search takes.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax.core import Tracer

P = ParamSpec("P")
R = TypeVar("R")

_NO_SEARCH: dict[str, str | bool] = {"xla_gpu_enable_triton_gemm": False}


def compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Compile a function; inside another compiled function it is a part of that.

    Args:
        function: The function.
        options: Of `jax.jit`.

    Returns:
        The function, compiled at its first call.
    """

    @cache
    def program() -> Callable[P, R]:
        return jax.jit(function, compiler_options=_compiler_options(), **options)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((args, kwargs))):
            return function(*args, **kwargs)
        return program()(*args, **kwargs)

    return call


def compile_lowered(lowered: Any) -> Any:
    """Compile what was traced.

    Args:
        lowered: What `jax.jit(f).lower` returns.

    Returns:
        The compiled function.
    """
    return lowered.compile(compiler_options=_compiler_options())


@cache
def _compiler_options() -> dict[str, str | bool] | None:
    """None on a CPU, and where this XLA has no such option."""
    if jax.default_backend() == "cpu":
        return None
    try:
        jax.jit(jnp.negative).lower(1.0).compile(compiler_options=_NO_SEARCH)
    except jax.errors.JaxRuntimeError:
        return None
    return dict(_NO_SEARCH)
