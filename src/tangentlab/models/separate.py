"""Networks that were seen to keep their examples apart, by what they compute.

A function may read what changes, so it is known by its trace and the arrays in it, not
by its name. Parameters are its arguments: of a network that was seen, with some and
with others beside them, its values alone are looked at with all others.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .._hashing import calls_python, hash_traced

Forward = Callable[..., Any]
"""`apply(constants, params, rows)`, compiled; captured arrays are arguments."""

_SEEN: OrderedDict[str, Forward] = OrderedDict()
_MOST = 16


def program_of(traced: Any) -> str | None:
    """What a traced network is known by.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        A hash; None where the trace does not tell what is computed.
    """
    return None if calls_python(traced) else hash_traced(traced)


def seen(program: str | None) -> Forward | None:
    """Look for a network that was seen to keep its examples apart.

    Args:
        program: What it is known by.

    Returns:
        Its forward pass; None if it was not seen, or is forgotten.
    """
    if program is None or program not in _SEEN:
        return None
    _SEEN.move_to_end(program)
    return _SEEN[program]


def remember(program: str | None, forward: Forward) -> None:
    """Remember that a network keeps its examples apart.

    Args:
        program: What it is known by; None for one that cannot be.
        forward: Its forward pass.
    """
    if program is None:
        return
    _SEEN[program] = forward
    if len(_SEEN) > _MOST:
        _SEEN.popitem(last=False)
