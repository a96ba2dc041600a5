"""What to warn of where quadrature is too coarse for an activation."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._checks import AccuracyWarning, outside
from .activations import Elementwise
from .branching import Parallel
from .combining import Serial
from .compiled import Kinds
from .layer import Layer

_TOLERATED = 1e-3  # of a kernel's value: what it may be off without a word


def warn_if_rough(layer: Layer, notes: Any, kinds: Kinds) -> bool:
    """Warn of activations by quadrature whose kernels may be off.

    Args:
        layer: The network.
        notes: What its layers noted of examples.
        kinds: Which kernels are wanted.

    Returns:
        Whether there was anything to warn of.
    """
    rough = False
    for activation, q in set(_by_quadrature(layer, notes)):
        errors = [float(e) for e in _relative(activation, jnp.asarray(q))]
        worst = max(errors if "ntk" in kinds else errors[:1])
        if worst > _TOLERATED:
            rough = True
            warnings.warn(
                f"Quadrature is too coarse for {activation!r}: its kernel, or that of "
                f"its derivative, may be off by up to {worst:.1%} at a variance of "
                f"{q:.3g} (see `Elementwise.error`). Raise `num_terms`, move a corner "
                "of the function to zero, or give its `integral`.",
                AccuracyWarning,
                stacklevel=outside(),
            )
    return rough


def _by_quadrature(layer: Layer, notes: Any) -> Iterator[tuple[Elementwise, float]]:
    """Activations by quadrature, and the largest variance of their inputs."""
    if notes is None:
        return
    if isinstance(layer, Elementwise) and layer.integral is None:
        yield layer, float(notes.max())
    elif isinstance(layer, Serial | Parallel):
        parts = layer.layers if isinstance(layer, Serial) else layer.branches
        for part, noted in zip(parts, notes, strict=True):
            yield from _by_quadrature(part, noted)


@partial(jax.jit, static_argnums=0)
def _relative(activation: Elementwise, q: Float[Array, ""]) -> tuple[Array, Array]:
    """Bounds of the errors of both kernels, over the kernels of equal inputs."""
    errors, kernels = activation.error(q), activation.dual.single(q)
    first, second = (
        jnp.where(error > 0, error / kernel, 0.0)
        for error, kernel in zip(errors, kernels, strict=True)
    )
    return first, second
