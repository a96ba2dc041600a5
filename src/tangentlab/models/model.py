"""The record that the models stage returns: a network as pure functions."""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array, Float

from .._types import Apply, Inputs, Params, PRNGKey, State

ApplyTrain = Callable[[Params, State, Inputs], tuple[Float[Array, "n c"], State]]


def _no_state() -> State:
    return {}


class Model(NamedTuple):
    """A network.

    `apply` is all that kernels, spectra and analysis ever see. The last three functions
    matter to networks with batch statistics; others keep the empty state.

    Attributes:
        init: `init(key) -> params`.
        apply: `apply(params, x) -> (n, c)`, batch statistics frozen at their initial
            values; row i of the output depends on row i of `x` alone.
        apply_train: `apply_train(params, state, x) -> (outputs, state)`, with the
            statistics of the batch. There is no random key: dropout stays off.
        freeze: `freeze(state) -> apply`, statistics fixed at those of `state`.
        init_state: `init_state() -> state`, the initial statistics.
        name: What the network is called in tables and figures.
    """

    init: Callable[[PRNGKey], Params]
    apply: Apply
    apply_train: ApplyTrain
    freeze: Callable[[State], Apply]
    init_state: Callable[[], State] = _no_state
    name: str = "network"
