"""The one place that knows how JAX versions write down a traced function.

Only documented names are imported (`jax.make_jaxpr`, `jax.extend.core`). The single
undocumented thing in use is the method `Primitive.get_bind_params`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.extend.core import Literal


def shape_of(like: Any, shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    """What JAX makes of an array of another shape: newer versions warn of wider types.

    Args:
        like: An array, or its shape and dtype.
        shape: The shape.

    Returns:
        The shape, and the dtype that JAX computes with.
    """
    return jax.ShapeDtypeStruct(shape, jnp.result_type(like))


class Body(NamedTuple):
    """A traced function: equations between variables.

    Attributes:
        equations: In the order of evaluation.
        constants: Variables with fixed values.
        inputs: Variables of the arguments.
        outputs: Variables, or literals, of the results.
    """

    equations: Sequence[Any]
    constants: dict[Any, Any]
    inputs: Sequence[Any]
    outputs: Sequence[Any]


class Scan(NamedTuple):
    """A loop of known length.

    Attributes:
        body: One iteration: constants, carry and slices in; carry and slices out.
        length: Number of iterations.
        num_constants: How many leading inputs are the same in each iteration.
        num_carry: How many inputs after these are carried from one to the next.
        reverse: Whether the last slice comes first.
    """

    body: Body
    length: int
    num_constants: int
    num_carry: int
    reverse: bool


def body_of(jaxpr: Any) -> Body:
    """Read a jaxpr, closed over constants or not (one type since JAX 0.12, two before).

    Args:
        jaxpr: What `jax.make_jaxpr` returns, or what an equation holds.

    Returns:
        Its parts.
    """
    values = tuple(getattr(jaxpr, "consts", ()))
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    constants = dict(zip(inner.constvars, values, strict=True)) if values else {}
    return Body(inner.eqns, constants, inner.invars, inner.outvars)


def inside_a_trace() -> bool:
    """Whether this runs inside `jit` or a loop, where every new array is a tracer.

    Returns:
        True there: nothing that is computed has a value yet.
    """
    return isinstance(jnp.zeros(()), Tracer)


def lifted(traced: Any) -> tuple[Callable[..., Any], list[Any]]:
    """A traced function of one result, and the arrays that it closes over.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        A function of these arrays, as a list, and of the arguments in any pytrees with
        the leaves of the trace; it does not keep them alive. And the arrays.
    """
    body = body_of(traced)
    names, inputs, (output,) = list(body.constants), body.inputs, body.outputs
    equations = body.equations

    def call(constants: list[Any], *args: Any) -> Any:
        known = dict(zip(names, constants, strict=True))
        known |= zip(inputs, jax.tree.leaves(args), strict=True)

        def value(atom: Any) -> Any:
            return atom.val if is_literal(atom) else known[atom]

        for equation in equations:
            results = evaluator(equation)(*map(value, equation.invars))
            known |= zip(equation.outvars, results, strict=True)
        return value(output)

    return call, list(body.constants.values())


def is_literal(atom: Any) -> bool:
    """Whether an operand is a number written into the equation.

    Args:
        atom: A variable or a literal.

    Returns:
        True for a literal, whose value is `atom.val`.
    """
    return isinstance(atom, Literal)


def inner_call(equation: Any) -> Body | None:
    """The function inside an equation that does nothing but call it.

    `custom_jvp_call` and `custom_vjp_call` are not among them: their derivative is not
    that of the function inside (`max` has slope 1/2 at a tie, `relu` 0).

    Args:
        equation: Any equation.

    Returns:
        The body of a `jit`, `checkpoint` or closed call; None for everything else.
    """
    calls = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint")
    if equation.primitive.name not in calls:
        return None
    inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
    return None if inner is None else body_of(inner)


def as_scan(equation: Any) -> Scan | None:
    """Read an equation as a loop of known length.

    Args:
        equation: Any equation.

    Returns:
        The loop; None if the equation is not a `lax.scan`.
    """
    if equation.primitive.name != "scan":
        return None
    params = equation.params
    if "num_consts" in params:  # until JAX 0.11
        counts = params["num_consts"], params["num_carry"]
    else:  # since then a tree of constants, carry and slices
        constants, carry, _ = params["ft_in"].unpack()
        counts = len(constants), len(carry)
    return Scan(body_of(params["jaxpr"]), params["length"], *counts, params["reverse"])


def evaluator(equation: Any) -> Callable[..., list[Any]]:
    """A function of the operands' values that evaluates an equation.

    Args:
        equation: Any equation; custom derivatives are kept.

    Returns:
        A function that returns a list with one value for each output.
    """
    primitive = equation.primitive

    def evaluate(*values: Any) -> list[Any]:
        params = primitive.get_bind_params(equation.params)
        result = primitive.bind(*values, **params)
        return list(result) if primitive.multiple_results else [result]

    return evaluate
