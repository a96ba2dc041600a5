"""What a Gram matrix was computed of, as a handful of hashes.

Kept apart, so that a folder of another computation can say what differs. The network's
is that of its derivative, traced: with the rules of custom derivatives in it, and the
arrays that it closes over.
"""

from collections.abc import Mapping, Sequence

from ..._hashing import hash_parts, hash_traced
from ..._jaxprs import shape_of
from ..._types import AnyArray
from ..network import Network, trace_derivative


def fingerprint(
    network: Network,
    x_1: Sequence[AnyArray],
    x_2: Sequence[AnyArray] | None,
    known: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Hash what a Gram matrix is computed of.

    Args:
        network: The network, read, with values of its parameters.
        x_1: Arrays of the examples along the rows.
        x_2: Arrays of the examples along the columns; None if they are the same.
        known: Hashes of `x_1` and `x_2` that need not be computed again.

    Returns:
        Hashes by what they are of.
    """
    known = known or {}
    values, chosen = network.values, network.differentiated
    return {
        "network": _of_network(network, x_1),
        "params": hash_parts(*network.names, *values.leaves),
        "trainable": hash_parts(str(chosen)),
        "scale": hash_parts(*(values.roots[leaf] for leaf in chosen)),
        "x_1": known.get("x_1") or hash_parts(*x_1),
        "x_2": "" if x_2 is None else known.get("x_2") or hash_parts(*x_2),
    }


def _of_network(network: Network, x: Sequence[AnyArray]) -> str:
    example = [shape_of(a, a.shape[1:]) for a in x]
    leaves = network.values.leaves
    chosen = network.differentiated
    return hash_traced(trace_derivative(network.function, leaves, example, chosen))
