"""Kernels by quadrature that may be off by more than a little say so."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import infinite as inf
from tangentlab.spectra import AccuracyWarning

X = np.random.default_rng(0).standard_normal((5, 4))


def fast(u):
    return jnp.sin(30 * u)


def jump(u):
    return jnp.where(u > 0.3, 1.0, 0.0)


def network(activation):
    return inf.serial(inf.Dense(8), activation, inf.Dense(1))


@pytest.mark.parametrize("fn", [fast, jump])
@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_a_function_beyond_the_quadrature_is_warned_of(fn, kind):
    with pytest.warns(
        AccuracyWarning, match=rf"too coarse for Elementwise\({fn.__name__}"
    ):
        getattr(network(inf.Elementwise(fn)), kind)(X)


def test_of_an_activation_inside_branches_too_and_once():
    inner = inf.residual(inf.Elementwise(fast), inf.Dense(8))
    net = inf.serial(inf.Dense(8), inf.repeat(inner, 1), inf.Dense(1))
    with pytest.warns(
        AccuracyWarning, match=r"up to \d+\.\d% at a variance of"
    ) as said:
        net.ntk(X, memory=2**14)
    assert len(said) == 1


def test_a_corner_spoils_the_tangent_kernel_alone():
    net = network(inf.Elementwise(jax.nn.relu))
    net.nngp(X)  # no warning, which would be an error
    with pytest.warns(AccuracyWarning, match="or give its `integral`"):
        net.ntk(X)


@pytest.mark.parametrize(
    "activation",
    [inf.Tanh(), inf.Silu(), inf.Elu(), inf.Elementwise(fast, lambda c, p, q: c)],
)
def test_what_is_accurate_is_not_warned_of(activation):
    network(activation).ntk(X)
