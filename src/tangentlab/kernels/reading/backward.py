"""One backward pass: the gradient at every site, for one example."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .program import Equation, Program
from .sites import Site


class Factors(NamedTuple):
    """What one backward pass of one example leaves at the sites.

    Attributes:
        inputs: The data operand at each tap; None at a port.
        deltas: Gradient of each output with respect to the tap's output or the port's
            weight, the outputs along a leading axis.
    """

    inputs: list[Any]
    deltas: list[Any]


def backward(
    program: Program, sites: Sequence[Site], weights: dict[int, Any], example: list[Any]
) -> Factors:
    """Run the program on one example and go back to the sites.

    Args:
        program: The program.
        sites: Where to stop.
        weights: Values of the variables that do not depend on data.
        example: Arrays of the example.

    Returns:
        Inputs and deltas at each site.
    """
    at = {}
    for number, site in enumerate(sites):
        at.setdefault(site.equation, []).append((number, site))

    def run(probes):
        values = dict(weights) | dict(zip(program.inputs, example, strict=True))
        inputs: list[Any] = [None] * len(sites)
        for number, equation in enumerate(program.equations):
            if not program.of_data.intersection(equation.outputs):
                continue
            operands = [values[i] for i in equation.inputs]
            for which, site in at.get(number, ()):
                if site.meeting is None:
                    operands[site.operand] = probes[which]
                else:
                    inputs[which] = operands[1 - site.operand]
            results = _evaluate(equation, operands, at.get(number, ()))
            for which, site in at.get(number, ()):
                if site.meeting is not None:
                    results = [results[0] + probes[which]]
            values.update(zip(equation.outputs, results, strict=True))
        return values[program.output], inputs

    outputs, pull, inputs = jax.vjp(run, _probes(program, sites, weights), has_aux=True)
    basis = jnp.eye(outputs.size, dtype=outputs.dtype)
    (deltas,) = jax.vmap(pull)(basis)
    return Factors(inputs, deltas)


def _evaluate(equation: Equation, operands: list[Any], sites) -> list[Any]:
    for _, site in sites:
        if site.meeting is not None and site.meeting.product is not None:
            given, weight = operands[1 - site.operand], operands[site.operand]
            return [site.meeting.product(given, weight)]
    return equation.evaluate(*operands)


def _probes(program: Program, sites: Sequence[Site], weights: dict[int, Any]) -> list:
    """What to differentiate: zeros added at a tap, the weight itself at a port."""
    made = []
    for site in sites:
        if site.meeting is None:
            made.append(weights[site.variable])
        else:
            shape = program.shapes[program.equations[site.equation].outputs[0]]
            made.append(jnp.zeros(shape.shape, shape.dtype))
    return made
