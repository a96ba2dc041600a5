"""Where the axis of tasks stands in arrays while an epoch runs.

Tasks see the same samples, so the first layer of all networks together is one product,
of the samples with all their weights side by side. If the axis of tasks came first, as
everywhere else, XLA would turn these weights over in every step, and their gradients
back. A step of 32 MLPs on 32 x 32 images takes 0.15 ms on an H200 in place of 0.19.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax

from .._jaxprs import Body, body_of, inner_call, is_literal

Shape = tuple[int, ...]
_Mark = Shape | str
"""Of a value: a parameter, by its shape; "shared" by all tasks; or a task's "own"."""


def task_axes(step: Callable[..., Any], learner: Any, *shared: Any) -> Any:
    """The axis of tasks in each array of the learners.

    Args:
        step: Of one learner, `step(learner, *shared)`.
        learner: Of all tasks, whose axis is the first of every array.
        *shared: What one learner is given beside; arrays or shapes.

    Returns:
        A tree like `learner`: 1 for matrices that multiply samples and all that have
        their shape, such as momenta; else 0.
    """
    one = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), learner)
    body = body_of(jax.make_jaxpr(step)(one, *shared))
    own: list[_Mark] = [leaf.shape for leaf in jax.tree.leaves(one)]
    found: set[Shape] = set()
    _follow(body, [*own, *["shared"] * (len(body.inputs) - len(own))], found)
    return jax.tree.map(lambda leaf: int(leaf.shape in found), one)


def _follow(body: Body, marks: Sequence[_Mark], found: set[Shape]) -> list[_Mark]:
    """Mark all values, and find matrices that multiply what is the same for all."""
    values: dict[Any, _Mark] = dict.fromkeys(body.constants, "shared")
    values.update(zip(body.inputs, marks, strict=True))

    def mark(atom: Any) -> _Mark:
        return "shared" if is_literal(atom) else values[atom]

    for equation in body.equations:
        given, inner = [mark(atom) for atom in equation.invars], inner_call(equation)
        if inner is not None:
            made = _follow(inner, given, found)
        else:
            if equation.primitive.name == "dot_general":
                found.update(_matrices(equation, given))
            same = all(each == "shared" for each in given)
            made: list[_Mark] = ["shared" if same else "own"] * len(equation.outvars)
        values.update(zip(equation.outvars, made, strict=True))
    return [mark(atom) for atom in body.outputs]


def _matrices(equation: Any, marks: Sequence[_Mark]) -> list[Shape]:
    """Parameters of a product with shared values, summed over their first axis."""
    summed, batched = equation.params["dimension_numbers"]
    if any(batched) or "shared" not in marks:
        return []
    return [
        shape
        for shape, axes in zip(marks, summed, strict=True)
        if not isinstance(shape, str) and len(shape) == 2 and tuple(axes) == (0,)
    ]
