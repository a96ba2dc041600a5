"""Compiling several functions side by side, before they are needed.

XLA compiles one function on one core; the functions of a plan are known together.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import jax

from ..._compiling import compile_lowered

_THREADS = 8


def ahead(function: Callable[..., Any], *args: Any, runs_once: bool = False) -> None:
    """Start to compile a function for arguments like these.

    Args:
        function: The result of `jax.jit`.
        *args: Arguments, or what `jax.eval_shape` says of them.
        runs_once: It is called but once, not worth a search for fast programs; `call`
            must be told, too.
    """
    _request(function, args, runs_once)


def call(function: Callable[..., Any], *args: Any, runs_once: bool = False) -> Any:
    """Call a function, compiled before or now.

    Args:
        function: The result of `jax.jit`.
        *args: Arguments, numpy or JAX arrays.
        runs_once: As `ahead` was told.

    Returns:
        What it returns.
    """
    return _request(function, args, runs_once).result()(*args)


def _request(function: Callable[..., Any], args: Any, runs_once: bool) -> Future:
    leaves, tree = jax.tree.flatten(args)
    shapes = tuple((leaf.shape, leaf.dtype) for leaf in leaves)
    config: Any = jax.config
    settings = config.jax_enable_x64, config.jax_default_device
    return _compiled(function, tree, shapes, runs_once, *settings)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="tangentlab-compile")


@lru_cache(maxsize=256)
def _compiled(
    function, tree, shapes, runs_once: bool, x64: bool, device: Any
) -> Future:
    structs = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes]
    args = jax.tree.unflatten(tree, structs)

    def compile_it() -> Any:  # settings belong to a thread
        with jax.enable_x64(x64), jax.default_device(device):
            return compile_lowered(function.lower(*args), runs_once=runs_once)

    return _pool().submit(compile_it)
