"""Hand-written networks.

>>> import jax
>>> import jax.numpy as jnp
>>> def init(key):
...     return jax.random.normal(key, (3, 1))
>>> model = from_function(init, lambda w, x: x @ w)
>>> model.apply(model.init(jax.random.key(0)), jnp.ones((5, 3))).shape
(5, 1)
"""

from collections.abc import Callable

from ..._types import Apply, Params, PRNGKey
from ..model import Model


def from_function(
    init: Callable[[PRNGKey], Params], apply: Apply, *, name: str = "network"
) -> Model:
    """Make a `Model` of a network without batch statistics.

    Args:
        init: `init(key) -> params`.
        apply: `apply(params, x) -> (n, c)`.
        name: What the network is called in tables and figures.

    Returns:
        The model, whose state is an empty dict that nothing changes.
    """
    return Model(
        init=init,
        apply=apply,
        apply_train=lambda params, state, x: (apply(params, x), state),
        freeze=lambda state: apply,
        name=name,
    )
