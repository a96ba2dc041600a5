"""What a sample of a network looks like, where its maker has said so."""

from typing import Any

import jax
from jaxtyping import DTypeLike

from .._types import Apply


def with_sample(apply: Apply, shape: tuple[int, ...], dtype: DTypeLike) -> Apply:
    """Note on a network what its samples look like.

    Args:
        apply: A function of its own; it is changed.
        shape: Of one sample.
        dtype: What samples are made of.

    Returns:
        The function. What `jax.jit` makes of it keeps the note.
    """
    note: Any = apply
    note.sample = jax.ShapeDtypeStruct(tuple(shape), dtype)
    return apply


def sample_of(apply: Apply) -> jax.ShapeDtypeStruct | None:
    """What a sample of a network looks like.

    Args:
        apply: The network.

    Returns:
        Shape and dtype of one sample; None where nobody has said so.
    """
    return getattr(apply, "sample", None)
