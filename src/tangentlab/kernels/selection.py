"""Which parameters a kernel differentiates, and with what weight."""

import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, PyTree

from .._types import Params
from ..models.trees import dtype_of

_STATISTICS = "batch_stats"  # as flax calls them, among all variables of a module


class Selection(NamedTuple):
    """The part of a parameter tree that a kernel differentiates.

    Attributes:
        leaves: The differentiated leaves, in the order of `jax.tree.leaves`.
        roots: Square root of each leaf's multiplier, a scalar or an array like it.
        rebuild: Puts replacements for `leaves` back into the whole tree.
        picked: Positions of `leaves` among all leaves.
        all_leaves: Every leaf, buffers too.
    """

    leaves: list[Array]
    roots: list[Array]
    rebuild: Callable[[list[Array]], Params]
    picked: tuple[int, ...]
    all_leaves: list[Array]


def select(
    params: Params, trainable: PyTree | None = None, scale: PyTree | None = None
) -> Selection:
    """Pick the real-valued, trainable leaves of a parameter tree.

    Args:
        params: All parameters; integer leaves are buffers and never differentiated.
        trainable: Prefix of `params` with booleans; None keeps all.
        scale: Prefix of `params` with non-negative multipliers; None means 1.

    Returns:
        The selection.

    Raises:
        ValueError: If nothing is left to differentiate, a trainable leaf is complex, a
            multiplier is negative, or a prefix does not fit.
    """
    if trainable is None and isinstance(params, Mapping) and _STATISTICS in params:
        warnings.warn(
            f"`params` holds batch statistics, {_STATISTICS!r}, and the kernel counts "
            "them as parameters: keep them out with `trainable=`, as in "
            "{'params': True, 'batch_stats': False}, or use `tl.models.from_flax`.",
            stacklevel=2,
        )
    leaves, structure = jax.tree.flatten(params)
    leaves = [jnp.asarray(leaf) for leaf in leaves]
    keep = _spread("trainable", True if trainable is None else trainable, params)
    if not all(isinstance(use, bool | np.bool_) for use in keep):
        strange = next(use for use in keep if not isinstance(use, bool | np.bool_))
        raise ValueError(
            f"`trainable` must hold booleans, got {strange!r}: pass True or False for "
            "each parameter or part of the tree."
        )
    multipliers = _spread("scale", 1.0 if scale is None else scale, params)
    _check_real(params, keep)
    picked = [
        i
        for i, leaf in enumerate(leaves)
        if keep[i] and jnp.issubdtype(leaf.dtype, jnp.floating)
    ]
    if not picked:
        raise ValueError(
            f"Nothing to differentiate: of {len(leaves)} leaves in `params` none is "
            "both real-valued and trainable. Pass floating-point parameters, and a "
            "`trainable` that keeps at least one."
        )
    roots = [_root(multipliers[i], leaves[i]) for i in picked]

    def rebuild(new: list[Array]) -> Params:
        changed = list(leaves)
        for i, leaf in zip(picked, new, strict=True):
            changed[i] = leaf
        return jax.tree.unflatten(structure, changed)

    chosen = [leaves[i] for i in picked]
    return Selection(chosen, roots, rebuild, tuple(picked), leaves)


def _check_real(params: Params, keep: list) -> None:
    """Refuse complex parameters, which have two derivatives, not one."""
    for use, (path, leaf) in zip(keep, jax.tree.leaves_with_path(params), strict=True):
        if use and jnp.issubdtype(dtype_of(leaf), jnp.complexfloating):
            raise ValueError(
                f"`params{jax.tree_util.keystr(path)}` is complex: make it of two real "
                "parameters in `apply`, as in `lax.complex(p['real'], p['imaginary'])`,"
                " or leave it out with `trainable`."
            )


def _root(multiplier: PyTree, leaf: Array) -> Array:
    value = jnp.asarray(multiplier, leaf.dtype)
    if not isinstance(value, Tracer) and not bool(jnp.all(value >= 0)):
        raise ValueError(
            f"`scale` holds a negative multiplier or NaN ({float(value.min())}): "
            "J diag(s) J^T is a kernel for s >= 0 only."
        )
    if value.size == 1:
        return jnp.sqrt(value.reshape(()))
    try:
        return jnp.broadcast_to(jnp.sqrt(value), leaf.shape)
    except ValueError as error:
        raise ValueError(
            f"A multiplier in `scale` has shape {value.shape}, its parameter "
            f"{leaf.shape}: pass a scalar or an array of the parameter's shape."
        ) from error


def _spread(name: str, prefix: PyTree, params: Params) -> list:
    """Repeat each leaf of a prefix over the subtree of `params` it stands for."""
    spread: list = []
    try:
        jax.tree.map(
            lambda value, below: spread.extend([value] * len(jax.tree.leaves(below))),
            prefix,
            params,
        )
    except ValueError as error:
        raise ValueError(
            f"`{name}` must have the structure of `params` or be a prefix of it "
            f"({jax.tree.structure(params)}), got {jax.tree.structure(prefix)}."
        ) from error
    return spread
