"""How a weight is made of parameters: moved about and scaled, or anything else.

A chain of reshapes, transposes, slices and scalings from one leaf keeps each element of
the leaf recognizable, so that the gradient with respect to the weight *is* that of the
leaf, up to the order of elements and a factor. Every other weight (a norm, a sum, a
broadcast) goes through the vjp of its computation.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .program import Equation, Program

_REORDER = ("reshape", "transpose", "squeeze", "expand_dims", "copy", "rev")
_SELECT = ("slice", "index")


class Chain(NamedTuple):
    """The way from a leaf to a weight.

    Attributes:
        leaf: Position of the leaf among the program's leaves.
        factor: What the elements are multiplied with.
        moves: The equations that move elements, in order.
    """

    leaf: int
    factor: float
    moves: tuple[Equation, ...]

    @property
    def layout(self) -> tuple:
        """Equal for two chains from one leaf only if they move elements alike."""
        return tuple(
            (move.name, tuple(sorted((k, str(v)) for k, v in move.params.items())))
            for move in self.moves
        )

    @property
    def keeps_all(self) -> bool:
        """Whether every element of the leaf is in the weight."""
        return all(move.name in _REORDER for move in self.moves)

    def elements(self, program: Program) -> np.ndarray:
        """Which element of the leaf each element of the weight is.

        Args:
            program: The program.

        Returns:
            Flat positions in the leaf, in the shape of the weight.
        """
        shape = program.shapes[program.leaves[self.leaf]].shape
        numbers = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
        with jax.ensure_compile_time_eval():  # these are numbers, also under `jit`
            for move in self.moves:
                (numbers,) = move.evaluate(jnp.asarray(numbers))
            return np.asarray(numbers)


def chain(program: Program, variable: int) -> Chain | None:
    """Follow a weight back to its leaf.

    Args:
        program: The program.
        variable: The weight.

    Returns:
        The chain; None if the weight is not one leaf, moved and scaled.
    """
    makers = {out: eq for eq in program.equations for out in eq.outputs}
    factor, moves = 1.0, []
    while variable not in program.leaves:
        equation = makers.get(variable)
        if equation is None:
            return None
        if equation.name in (*_REORDER, *_SELECT):
            moves.append(equation)
            variable = equation.inputs[0]
        elif equation.name == "convert_element_type" and _is_real(program, equation):
            variable = equation.inputs[0]
        else:
            scaled = _scaling(program, equation)
            if scaled is None:
                return None
            variable, step = scaled
            factor *= step
    leaf = program.leaves.index(variable)
    return Chain(leaf, factor, tuple(reversed(moves)))


def _is_real(program: Program, equation: Equation) -> bool:
    """Whether a cast is between floating-point types: others have no slope."""
    dtypes = [program.shapes[i].dtype for i in (*equation.inputs, *equation.outputs)]
    return all(jnp.issubdtype(dtype, jnp.floating) for dtype in dtypes)


def _scaling(program: Program, equation: Equation) -> tuple[int, float] | None:
    """The operand and factor of an equation that only multiplies by a number."""
    if equation.name == "neg":
        return equation.inputs[0], -1.0
    if equation.name not in ("mul", "div"):
        return None
    left, right = equation.inputs
    for operand, other in ((left, right), (right, left)):
        value = program.constants.get(other, np.empty(0))
        same = (
            program.shapes[operand].shape == program.shapes[equation.outputs[0]].shape
        )
        if isinstance(value, Tracer) or not same or np.size(value) != 1:
            continue
        if np.iscomplexobj(value):
            return None
        if equation.name == "mul":
            return operand, float(np.asarray(value).ravel()[0])
        if other == right:
            return operand, 1 / float(np.asarray(value).ravel()[0])
    return None
