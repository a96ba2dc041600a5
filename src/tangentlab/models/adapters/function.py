"""Hand-written networks."""

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
