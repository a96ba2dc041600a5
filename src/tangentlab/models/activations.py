"""Activations by name."""

from collections.abc import Callable
from typing import Literal

import jax

from .._checks import check_known

Activation = Literal["relu", "gelu", "tanh", "erf", "softplus", "sigmoid"]

_FUNCTIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "relu": jax.nn.relu,  # derivative 0 at 0
    "gelu": lambda x: jax.nn.gelu(x, approximate=True),
    "tanh": jax.nn.tanh,
    "erf": jax.lax.erf,
    "softplus": jax.nn.softplus,
    "sigmoid": jax.nn.sigmoid,
}


def activation_function(name: Activation) -> Callable[[jax.Array], jax.Array]:
    """Look up an activation.

    Args:
        name: Its name; `"gelu"` is the tanh approximation.

    Returns:
        The elementwise function.
    """
    check_known("activation", name, _FUNCTIONS)
    return _FUNCTIONS[name]
