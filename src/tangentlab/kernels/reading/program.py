"""A network, traced on one example, as a flat list of equations.

Calls are inlined and loops of few equations unrolled, so that every place where a
parameter meets data stands in the open. Each variable is known to depend on parameters,
on data, on both or on neither.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..._jaxprs import Body, Scan, as_scan, body_of, evaluator, inner_call, is_literal

_MOST_UNROLLED = 300  # equations; a loop that gives more of them stays one equation
_MOST_LAYERS = 64  # iterations of a loop over layers, whose structure saves more


class Equation(NamedTuple):
    """One step of a program.

    Attributes:
        name: The primitive's name; `index` and `stack` come from unrolled loops.
        evaluate: Function of the operands' values that returns the list of results.
        inputs: Variables of the operands.
        outputs: Variables of the results.
        params: What the primitive was called with.
    """

    name: str
    evaluate: Callable[..., list[Any]]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    params: dict[str, Any]


@dataclass(frozen=True)
class Program:
    """A function of parameter leaves and one example, as equations.

    Attributes:
        equations: In the order of evaluation, those alone that the output needs.
        constants: Variables with fixed values.
        leaves: Variable of each parameter leaf.
        inputs: Variable of each array of the example.
        output: Variable of the result, of shape `(c,)`.
        shapes: Shape and dtype of each variable.
        of_params: Variables that depend on parameters.
        of_data: Variables that depend on the example.
    """

    equations: tuple[Equation, ...]
    constants: dict[int, Any]
    leaves: tuple[int, ...]
    inputs: tuple[int, ...]
    output: int
    shapes: dict[int, jax.ShapeDtypeStruct]
    of_params: frozenset[int]
    of_data: frozenset[int]

    def is_weight(self, variable: int) -> bool:
        """Whether a variable has derivatives and is made of parameters alone.

        Args:
            variable: The variable.

        Returns:
            True where a gradient with respect to it reaches parameters.
        """
        smooth = jnp.issubdtype(self.shapes[variable].dtype, jnp.inexact)
        return smooth and variable in self.of_params and variable not in self.of_data

    def weights(self, leaves: Sequence[Any]) -> dict[int, Any]:
        """Values of all variables that do not depend on data.

        Args:
            leaves: Values of the parameter leaves.

        Returns:
            Values by variable.
        """
        values = dict(self.constants) | dict(zip(self.leaves, leaves, strict=True))
        for equation in self.equations:
            if not self.of_data.intersection(equation.outputs):
                operands = [values[i] for i in equation.inputs]
                results = equation.evaluate(*operands)
                values.update(zip(equation.outputs, results, strict=True))
        return values


@dataclass
class _Writer:
    """Collects equations while a traced function is read."""

    equations: list[Equation] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    shapes: dict[int, jax.ShapeDtypeStruct] = field(default_factory=dict)
    of_params: set[int] = field(default_factory=set)
    of_data: set[int] = field(default_factory=set)

    def variable(self, like: Any) -> int:
        number = len(self.shapes)
        self.shapes[number] = jax.ShapeDtypeStruct(like.shape, like.dtype)
        return number

    def constant(self, value: Any) -> int:
        value = jnp.asarray(value) if isinstance(value, int | float | bool) else value
        number = self.variable(value)
        self.constants[number] = value
        return number

    def emit(self, name, evaluate, inputs, shapes, params=None) -> list[int]:
        outputs = [self.variable(shape) for shape in shapes]
        made = Equation(name, evaluate, tuple(inputs), tuple(outputs), params or {})
        self.equations.append(made)
        for reached in (self.of_params, self.of_data):
            if not reached.isdisjoint(inputs):
                reached.update(outputs)
        return outputs

    def read(self, body: Body, arguments: Sequence[int]) -> list[int]:
        """Write down a body; return the variables of its outputs."""
        known = dict(zip(body.inputs, arguments, strict=True))
        known.update({v: self.constant(value) for v, value in body.constants.items()})

        def look_up(atom):
            return self.constant(atom.val) if is_literal(atom) else known[atom]

        for equation in body.equations:
            operands = [look_up(atom) for atom in equation.invars]
            results = self.read_equation(equation, operands)
            known.update(zip(equation.outvars, results, strict=True))
        return [look_up(atom) for atom in body.outputs]

    def read_equation(self, equation, operands: list[int]) -> list[int]:
        inner, scan = inner_call(equation), as_scan(equation)
        if inner is not None:
            return self.read(inner, operands)
        if scan is not None and self.is_worth_unrolling(scan, operands):
            return self.unroll(scan, operands)
        shapes = [variable.aval for variable in equation.outvars]
        name, params = equation.primitive.name, equation.params
        return self.emit(name, evaluator(equation), operands, shapes, params)

    def is_worth_unrolling(self, scan: Scan, operands: list[int]) -> bool:
        """Whether what structure saves is worth the time to compile all iterations."""
        if not scan.length:
            return False
        weights = self.of_params - self.of_data
        layers = not weights.isdisjoint(operands[scan.num_constants + scan.num_carry :])
        if layers and scan.length <= _MOST_LAYERS:
            return True
        return _num_unrolled(scan) <= _MOST_UNROLLED

    def unroll(self, scan: Scan, operands: list[int]) -> list[int]:
        split = scan.num_constants, scan.num_constants + scan.num_carry
        fixed, carry = operands[: split[0]], operands[split[0] : split[1]]
        stacked = operands[split[1] :]
        order = range(scan.length)
        slices: dict[int, list[int]] = {}
        for i in reversed(order) if scan.reverse else order:
            results = self.read(scan.body, [*fixed, *carry, *self.index(stacked, i)])
            carry, slices[i] = results[: scan.num_carry], results[scan.num_carry :]
        columns = zip(*(slices[i] for i in order), strict=True)
        return [*carry, *(self.stack(list(column)) for column in columns)]

    def index(self, stacked: list[int], i: int) -> list[int]:
        made = []
        for variable in stacked:
            whole = self.shapes[variable]
            part = jax.ShapeDtypeStruct(whole.shape[1:], whole.dtype)
            params = {"i": i}
            made += self.emit("index", lambda v: [v[i]], [variable], [part], params)
        return made

    def stack(self, column: list[int]) -> int:
        part = self.shapes[column[0]]
        whole = jax.ShapeDtypeStruct((len(column), *part.shape), part.dtype)
        (made,) = self.emit("stack", lambda *v: [jnp.stack(v)], column, [whole])
        return made


def trace(
    function: Callable[..., Any], leaves: Sequence[Any], example: Sequence[Any]
) -> Program:
    """Trace a function of parameter leaves and one example.

    Args:
        function: `function(leaves, example) -> (c,)`.
        leaves: Parameter leaves, or their shapes and dtypes.
        example: Arrays of one example, or their shapes and dtypes.

    Returns:
        The program.
    """
    body = body_of(jax.make_jaxpr(function)(list(leaves), list(example)))
    writer = _Writer()
    arguments = [writer.variable(variable.aval) for variable in body.inputs]
    params, data = arguments[: len(leaves)], arguments[len(leaves) :]
    writer.of_params.update(params)
    writer.of_data.update(data)
    (output,) = writer.read(body, arguments)
    if output not in writer.of_data:  # a constant function still has a gradient
        shape = writer.shapes[output]
        pair = [output, data[0]]
        (output,) = writer.emit("tie", lambda value, _: [value], pair, [shape])
        writer.of_params.add(output)
    return Program(
        equations=_needed(writer.equations, output),
        constants=writer.constants,
        leaves=tuple(params),
        inputs=tuple(data),
        output=output,
        shapes=writer.shapes,
        of_params=frozenset(writer.of_params),
        of_data=frozenset(writer.of_data),
    )


def _num_unrolled(scan: Scan) -> int:
    """Equations that a loop gives: slices are taken, and the body is written down."""
    slices = len(scan.body.inputs) - scan.num_constants - scan.num_carry
    return scan.length * (slices + sum(map(_num_equations, scan.body.equations)))


def _num_equations(equation: Any) -> int:
    inner, scan = inner_call(equation), as_scan(equation)
    if inner is not None:
        return sum(map(_num_equations, inner.equations))
    unrolled = 1 if scan is None else _num_unrolled(scan)
    return unrolled if unrolled <= _MOST_UNROLLED else 1


def _needed(equations: Sequence[Equation], output: int) -> tuple[Equation, ...]:
    needed, kept = {output}, []
    for equation in reversed(equations):
        if needed.intersection(equation.outputs):
            needed.update(equation.inputs)
            kept.append(equation)
    return tuple(reversed(kept))
