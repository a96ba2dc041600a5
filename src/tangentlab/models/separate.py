"""Networks that were seen to keep their examples apart, remembered for a while.

Whether a network mixes examples may depend on the values of its parameters: a branch
that mixes is silent while its last scale is zero. So a function is remembered together
with the very arrays it was seen with, which cannot change; nothing is kept alive.
"""

from collections import deque
from typing import Any, NamedTuple
from weakref import ref

import jax

from .._types import Apply, Inputs, Params


class _Seen(NamedTuple):
    function: ref
    leaves: tuple[ref, ...]
    structure: Any


_SEEN: deque[_Seen] = deque(maxlen=16)


def remember(apply: Apply, params: Params, rows: Inputs) -> None:
    """Remember that a network keeps its examples apart.

    Args:
        apply: The network.
        params: Its parameters; with a numpy array among them nothing is remembered,
            since that may change.
        rows: The examples it was seen with; only their shapes matter.
    """
    leaves = jax.tree.leaves(params)
    if not all(isinstance(leaf, jax.Array) for leaf in leaves):
        return
    try:
        refs = ref(apply), tuple(map(ref, leaves))
    except TypeError:  # something that cannot be referred to, so it is looked at again
        return
    _SEEN.append(_Seen(*refs, _structure(params, rows)))


def remembers(apply: Apply, params: Params, rows: Inputs) -> bool:
    """Whether this very network was seen to keep its examples apart.

    Args:
        apply: The network.
        params: Its parameters.
        rows: Examples.

    Returns:
        True if `remember` was told of the same function, arrays and shapes.
    """
    leaves = jax.tree.leaves(params)
    return any(
        seen.function() is apply
        and len(seen.leaves) == len(leaves)
        and all(a() is b for a, b in zip(seen.leaves, leaves, strict=True))
        and seen.structure == _structure(params, rows)
        for seen in _SEEN
    )


def _structure(params: Params, rows: Inputs) -> Any:
    leaves, structure = jax.tree.flatten(rows)
    shapes = tuple((leaf.shape, leaf.dtype) for leaf in leaves)
    return jax.tree.structure(params), structure, shapes
