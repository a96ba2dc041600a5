"""Pytrees: which leaves are differentiated, and whether two trees match."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PyTree


def dtype_of(leaf: Any) -> Any:
    """The dtype that JAX gives a leaf.

    Args:
        leaf: An array of JAX or numpy, or a number.

    Returns:
        Its dtype; numpy's float64 is float32 where JAX has 64-bit types switched off.
    """
    if isinstance(leaf, jax.Array | jax.ShapeDtypeStruct):
        return leaf.dtype
    return jnp.result_type(leaf)


def is_differentiable(leaf: Any) -> bool:
    """Whether a leaf is a floating-point or complex array or number.

    Args:
        leaf: A leaf of a pytree.

    Returns:
        False for integers, booleans and random keys: these are buffers.
    """
    return jnp.issubdtype(dtype_of(leaf), jnp.inexact)


def split_differentiable(tree: PyTree) -> tuple[PyTree, PyTree]:
    """Split a pytree into its differentiable leaves and its buffers.

    Args:
        tree: Any pytree of arrays.

    Returns:
        Two trees like `tree` with `None` in place of the other's leaves;
        `equinox.combine` puts them together again.
    """
    return eqx.partition(tree, is_differentiable)


def check_same_structure(name_1: str, tree_1: PyTree, name_2: str, tree_2: PyTree):
    """Raise unless two pytrees have the same containers and keys.

    Args:
        name_1: Name of the tree received.
        tree_1: The tree received.
        name_2: Name of the tree it must match.
        tree_2: The tree it must match.

    Raises:
        ValueError: If they differ; names the leaves only one of them has.
    """
    if jax.tree.structure(tree_1) == jax.tree.structure(tree_2):
        return
    paths_1, paths_2 = _paths(tree_1), _paths(tree_2)
    missing = ", ".join(path for path in paths_2 if path not in paths_1)
    surplus = ", ".join(path for path in paths_1 if path not in paths_2)
    found = [f"lacks {missing}"] * bool(missing) + [f"adds {surplus}"] * bool(surplus)
    detail = " and ".join(found) or (
        f"has the containers {jax.tree.structure(tree_1)} instead of "
        f"{jax.tree.structure(tree_2)}"
    )
    raise ValueError(f"`{name_1}` must be a pytree like `{name_2}`, but it {detail}.")


def check_same_leaves(name_1: str, tree_1: PyTree, name_2: str, tree_2: PyTree):
    """Raise unless two pytrees agree in structure, shapes and dtypes.

    Args:
        name_1: Name of the tree received.
        tree_1: The tree received.
        name_2: Name of the tree it must match.
        tree_2: The tree it must match.

    Raises:
        ValueError: If they differ; names the first leaf that does.
    """
    check_same_structure(name_1, tree_1, name_2, tree_2)
    leaves_1 = jax.tree_util.tree_leaves_with_path(tree_1)
    for (path, leaf_1), leaf_2 in zip(leaves_1, jax.tree.leaves(tree_2), strict=True):
        got, wanted = _describe(leaf_1), _describe(leaf_2)
        if got != wanted:
            where = jax.tree_util.keystr(path)
            raise ValueError(
                f"`{name_1}{where}` is {got}, but `{name_2}{where}` is {wanted}: both "
                "need the same shape and dtype, so cast one to the other's."
            )


def _paths(tree: PyTree) -> list[str]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [jax.tree_util.keystr(path) or "an array" for path, _ in leaves]


def _describe(leaf: Any) -> str:
    return f"{dtype_of(leaf)}{list(jnp.shape(leaf))}"
