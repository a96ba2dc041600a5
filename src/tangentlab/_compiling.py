"""Programs that an accelerator compiles in seconds.

For every matrix product XLA builds and times dozens of Triton programs before it takes
one. On an H200 that took 60 s for the Gram matrix of a ResNet18 and 26 s in place of 2
for an epoch of 32 LeNets, and the vendor's products, which are asked for here, were as
fast. Steps of small MLPs take a sixth longer with them, less in 100 epochs than the
search takes. Among the vendor's convolutions it searches too: that is worth its time
where a program runs for long, not where it runs once. The programs that check a
ResNet18 compile in 1.6 s without, and in 4.5 with it.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax.core import Tracer

P = ParamSpec("P")
R = TypeVar("R")

_Options = dict[str, Any]
_NO_SEARCH: _Options = {"xla_gpu_enable_triton_gemm": False}
_NESTED = "`compiler_options` can only be passed to top-level"
_FIRST_FOUND: _Options = {**_NO_SEARCH, "xla_gpu_autotune_level": 0}


def compiled(
    function: Callable[P, R], *, runs_once: bool = False, **options: Any
) -> Callable[P, R]:
    """Compile a function; inside another compiled function it is a part of that.

    Args:
        function: The function.
        runs_once: Do not search for fast programs at all.
        options: Of `jax.jit`.

    Returns:
        The function, compiled at its first call.
    """

    @cache
    def program() -> Callable[P, R]:
        wanted = _compiler_options(runs_once)
        return jax.jit(function, compiler_options=wanted, **options)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((args, kwargs))):
            return function(*args, **kwargs)
        try:
            return program()(*args, **kwargs)
        except ValueError as error:
            if _NESTED not in str(error):
                raise
            return function(*args, **kwargs)  # it captured a tracer, or is in a trace

    return call


def compile_lowered(lowered: Any, *, runs_once: bool = False) -> Any:
    """Compile what was traced.

    Args:
        lowered: What `jax.jit(f).lower` returns.
        runs_once: Do not search for fast programs at all.

    Returns:
        The compiled function.
    """
    return lowered.compile(compiler_options=_compiler_options(runs_once))


@cache
def _compiler_options(runs_once: bool = False) -> _Options | None:
    """None on a CPU, and where this XLA has no such option."""
    if jax.default_backend() == "cpu":
        return None
    wanted = dict(_FIRST_FOUND if runs_once else _NO_SEARCH)
    try:
        jax.jit(jnp.negative).lower(1.0).compile(compiler_options=wanted)
    except jax.errors.JaxRuntimeError:
        return None
    return wanted
