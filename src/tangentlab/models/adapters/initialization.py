"""Initializers run once, so what counts is how long they take to compile."""

from collections.abc import Callable

import jax
from jax.core import Tracer

from ..._jaxprs import inside_a_trace
from ..._keys import as_key
from ..._types import Params, PRNGKey


def compile_init(init: Callable[[PRNGKey], Params]) -> Callable[[PRNGKey], Params]:
    """Compile an initializer, on a CPU with little optimization.

    Random generators compile slowly on CPUs: at full optimization ResNet18 needs
    several times as long, for numbers drawn in a tenth of a second.

    Args:
        init: `init(key) -> params`; what does not reach its result is never computed.

    Returns:
        The same function, which may also be called inside `jit` and `eval_shape`.
    """
    on_cpu = jax.default_backend() == "cpu"
    options = {"xla_backend_optimization_level": 1} if on_cpu else None
    compiled = jax.jit(init, compiler_options=options)

    def run(key):
        as_key(key)
        # JAX accepts compiler options at the top level only.
        nested = isinstance(key, Tracer) or inside_a_trace()
        return init(key) if nested else compiled(key)

    return run
