"""Which loops are unrolled: those that compile in seconds, and those over layers."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from tangentlab.kernels.reading.program import trace

from .cases_loops import gated

GATED = [jnp.ones((3, 6)), jnp.ones((2, 6)), jnp.ones((2, 1))]


def _loops(function, leaves, shape):
    """How many loops are left in the program of a network."""
    example = [jax.ShapeDtypeStruct(shape, leaves[0].dtype)]
    program = trace(lambda p, x: function(p, x[0][None])[0], leaves, example)
    return sum(equation.name == "scan" for equation in program.equations)


@pytest.mark.parametrize(("steps", "left"), [(4, 0), (64, 1)])
def test_equations_count_not_steps(steps, left):
    def units(leaves, x):
        return gated(dict(zip("wuv", leaves, strict=True)), x)

    def sums(leaves, x):
        steps = x.swapaxes(0, 1)
        return lax.scan(lambda h, now: (h + now, None), steps[0], steps)[0] @ leaves[0]

    assert _loops(units, GATED, (steps, 3)) == left
    assert _loops(sums, [jnp.ones((3, 1))], (steps, 3)) == 0


@pytest.mark.parametrize(("layers", "left"), [(8, 0), (64, 0), (65, 1)])
def test_loops_over_layers_are_unrolled_up_to_a_number_of_layers(layers, left):
    def network(leaves, x):
        def layer(h, w):
            for _ in range(10):  # a body of many equations
                h = jnp.tanh(h @ w)
            return h, None

        return lax.scan(layer, x, leaves[0])[0] @ leaves[1]

    leaves = [jnp.ones((layers, 3, 3)), jnp.ones((3, 1))]
    assert _loops(network, leaves, (3,)) == left


@pytest.mark.parametrize(("inner", "left"), [(4, 0), (90, 1), (1000, 4)])
def test_loops_in_loops_count(inner, left):
    """An inner loop that stays one equation is no reason to keep the outer one."""

    def network(leaves, x):
        def rounds(_, h):
            return lax.fori_loop(0, inner, lambda _, h: jnp.tanh(h @ leaves[0]), h)

        return lax.fori_loop(0, 4, rounds, x) @ leaves[1]

    assert _loops(network, [jnp.ones((3, 3)), jnp.ones((3, 1))], (3,)) == left
