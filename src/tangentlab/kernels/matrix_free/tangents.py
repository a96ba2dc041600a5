r"""Multiplying by a Jacobian through the network: a backward pass for each vector.

Vectors travel side by side, so that one forward pass serves all. $J$ is the transpose
of the backward pass: that costs what a forward derivative costs, and a function with a
backward rule of its own means the same on both sides of a kernel.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..._types import AnyArray, Apply
from ..features import Source, Values
from ..network import reduce_outputs
from ..planning import _activation_bytes, backend
from ..preparing import Prepared
from ..request import Outputs
from .routes import Route

_MOST = {"cpu": 8, "gpu": 16}  # with more, the forward pass they share hardly counts


class Maps(NamedTuple):
    """A network's two linear maps, as functions of values of its parameters.

    Attributes:
        apply: The network.
        outputs: How logits are reduced.
        structure: Of the parameters.
        form: Of a batch.
        picked: Positions of the differentiated leaves.
    """

    apply: Apply
    outputs: Outputs
    structure: Any
    form: Any
    picked: tuple[int, ...]

    def pull(
        self, total: list[Array], values: Values, x: list[Array], weights: AnyArray
    ) -> list[Array]:
        r"""Add $J^\top w$ of a batch.

        Args:
            total: What to add to: for each differentiated leaf, vectors first.
            values: Values of the parameters.
            x: Arrays of the batch.
            weights: The vectors $w$, `(b, c, vectors)`.

        Returns:
            The sums.
        """
        with jax.default_matmul_precision("highest"):
            outputs, back = self._backward(values, x)
            (pulled,) = jax.vmap(back, in_axes=-1)(weights.astype(outputs.dtype))
        return [a + b.astype(a.dtype) for a, b in zip(total, pulled, strict=True)]

    def push(self, total: list[Array], values: Values, x: list[Array]) -> Array:
        r"""Compute $J t$ of a batch.

        Args:
            total: The vectors $t$: for each differentiated leaf, vectors first.
            values: Values of the parameters.
            x: Arrays of the batch.

        Returns:
            An array `(b, c, vectors)`.
        """
        leaves = [values.leaves[i] for i in self.picked]
        t = [a.astype(leaf.dtype) for a, leaf in zip(total, leaves, strict=True)]
        with jax.default_matmul_precision("highest"):
            outputs, back = self._backward(values, x)
            forth = jax.linear_transpose(lambda w: back(w)[0], outputs)
            return jax.vmap(lambda t: forth(t)[0], out_axes=-1)(t)

    def _backward(self, values: Values, x: list[Array]):
        """Outputs, and the way back to changes of the parameters times the roots."""
        batch = jax.tree.unflatten(self.form, x)

        def outputs(changes: list[Array]) -> Array:
            leaves = list(values.leaves)
            for i, change in zip(self.picked, changes, strict=True):
                leaves[i] = leaves[i] + values.roots[i].astype(change.dtype) * change
            logits = self.apply(jax.tree.unflatten(self.structure, leaves), batch)
            return reduce_outputs(logits, self.outputs)

        zeros = [jnp.zeros_like(values.leaves[i]) for i in self.picked]
        return jax.vjp(outputs, zeros)


def through_network(maps: Maps, prepared: Prepared) -> Route:
    """The route through the network.

    Args:
        maps: The network's two maps.
        prepared: The network, read, with values of its parameters.

    Returns:
        The route, which keeps outputs apart.
    """
    network = prepared.network
    pull, push = maps.pull, maps.push
    if not prepared.traced:
        pull, push = _remembered(maps, network.source)
    return Route(
        shapes=[network.values.leaves[i].shape for i in network.differentiated],
        most=_MOST[backend()],
        bytes_per_example=lambda width: _activation_bytes(
            network.source, replace(prepared.problem, num_outputs=width)
        ),
        pull=lambda total, x, weights: pull(total, network.values, x, weights),
        push=lambda total, x: push(total, network.values, x),
    )


def _remembered(maps: Maps, source: Source) -> tuple[Callable, Callable]:
    try:
        hash(maps)
    except TypeError:
        return _compiled.__wrapped__(maps, source)
    return _compiled(maps, source)


@lru_cache(maxsize=32)
def _compiled(maps: Maps, source: Source) -> tuple[Callable, Callable]:
    del source  # what the network computes, which its functions do not tell
    pull = jax.jit(partial(Maps.pull, maps), donate_argnums=0)
    return pull, jax.jit(partial(Maps.push, maps))
