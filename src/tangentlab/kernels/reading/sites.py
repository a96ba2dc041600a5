"""Every place where a weight enters a computation on data, and which leaves it reaches.

At a site that is a product (a *tap*) the gradient stays factored; at any other (a
*port*) it is taken with respect to the weight itself, example by example.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .chains import Chain, chain
from .meetings import Meeting, meeting
from .program import Program


class Site(NamedTuple):
    """A weight entering a computation on data.

    Attributes:
        equation: Position of the equation in the program.
        operand: Position of the weight among its operands.
        variable: The weight.
        leaves: Differentiated leaves it is made of.
        meeting: How the gradient factors, for a tap; None for a port.
        chain: How the weight is one leaf, moved and scaled; None if it is not.
    """

    equation: int
    operand: int
    variable: int
    leaves: frozenset[int]
    meeting: Meeting | None
    chain: Chain | None


class Piece(NamedTuple):
    """A part of a leaf that taps alone use, all in the same layout.

    The gradient is a sum of outer products over the positions of all its taps.

    Attributes:
        leaf: The leaf.
        sites: Its taps, by position in the list of sites.
        groups: Independent products side by side.
        positions: Positions in all taps together.
        fan_in: Features of the inputs.
        fan_out: Features of the outputs.
    """

    leaf: int
    sites: tuple[int, ...]
    groups: int
    positions: int
    fan_in: int
    fan_out: int

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.groups * self.fan_in * self.fan_out


def find_sites(program: Program, differentiated: Sequence[int]) -> list[Site]:
    """Find every site that reaches a differentiated leaf.

    Args:
        program: The program.
        differentiated: Positions of the differentiated leaves.

    Returns:
        The sites, in the order of evaluation.
    """
    reach = _reach(program, differentiated)
    sites = []
    for number, equation in enumerate(program.equations):
        if not program.of_data.intersection(equation.outputs):
            continue
        met = meeting(program, equation)
        for operand, variable in enumerate(equation.inputs):
            leaves = reach.get(variable, frozenset())
            if not leaves or not program.is_weight(variable):
                continue
            way = chain(program, variable)
            sites.append(Site(number, operand, variable, leaves, met, way))
    return sites


def pieces_of(program: Program, sites: Sequence[Site], leaf: int) -> list[Piece] | None:
    """Cut a leaf into pieces whose gradients factor.

    Args:
        program: The program.
        sites: All sites.
        leaf: The leaf.

    Returns:
        Pieces without common elements; None where the leaf is used in any other way,
        and its gradient has to be formed whole.
    """
    groups: dict[tuple, list[int]] = {}
    for number, site in enumerate(sites):
        if leaf not in site.leaves:
            continue
        if site.meeting is None or site.chain is None:
            return None
        key = (site.chain.layout, site.meeting.layout)
        groups.setdefault(key, []).append(number)
    if len(groups) > 1 and not _disjoint(program, sites, list(groups.values())):
        return None
    return [_piece(sites, leaf, numbers) for numbers in groups.values()]


def _piece(sites: Sequence[Site], leaf: int, numbers: list[int]) -> Piece:
    met = [sites[number].meeting for number in numbers]
    positions = sum(one.positions for one in met if one)
    first = met[0]
    assert first is not None
    shape = first.groups, positions, first.fan_in, first.fan_out
    return Piece(leaf, tuple(numbers), *shape)


def _disjoint(program: Program, sites: Sequence[Site], groups: list[list[int]]) -> bool:
    ways = [sites[numbers[0]].chain for numbers in groups]
    if any(way is None or way.keeps_all for way in ways):
        return False
    taken = np.concatenate([way.elements(program).ravel() for way in ways if way])
    return len(np.unique(taken)) == len(taken)


def _reach(program: Program, leaves: Sequence[int]) -> dict[int, frozenset[int]]:
    """Which differentiated leaves each variable made of parameters alone depends on."""
    reach = {program.leaves[leaf]: frozenset([leaf]) for leaf in leaves}
    for equation in program.equations:
        if program.of_data.intersection(equation.outputs):
            continue
        found = frozenset().union(*(reach.get(i, frozenset()) for i in equation.inputs))
        if found:
            reach.update({out: found for out in equation.outputs})
    return reach
