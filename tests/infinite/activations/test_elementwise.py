"""Any function: the kernel it is given, or a sum whose error is stated."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.infinite import activations as act

from . import cases

RHO = np.array([-1.0, -0.9, -0.3, 0.0, 0.5, 0.95, 1.0])


@functools.cache
def jitted(name):
    """`rho, q -> (k, kdot), (their errors)`, compiled once."""
    layer = cases.NUMERICAL[name]

    def both(rho, q):
        q = q * jnp.ones_like(rho)
        return layer.dual.pair(rho * q, q, q), layer.error(q)

    return jax.jit(both)


@pytest.mark.parametrize("name", cases.NUMERICAL)
def test_the_stated_error_is_kept(name):
    fn = cases.NUMERICAL[name].fn
    for q in (0.1, 1.0, 4.0):
        values, bounds = map(np.asarray, jitted(name)(jnp.asarray(RHO), jnp.asarray(q)))
        for i, rho in list(enumerate(RHO))[1:-1]:
            expected = cases.integrals(fn, rho * q, q, q)
            assert (np.abs(values[:, i] - expected) <= bounds[:, i] + 1e-13).all()
        cases.check_samples(fn, (RHO[4] * q, q, q), values[:, 4])


@pytest.mark.parametrize("name", cases.NUMERICAL)
def test_smooth_functions_need_few_terms(name):
    """The default number is enough for six digits, unless there is a corner."""
    _, (k, kdot) = jitted(name)(jnp.asarray(RHO), jnp.ones(()))
    assert k[0] < 1e-6
    assert kdot[0] < (1e-4 if name == "elu" else 1e-6)


def test_more_terms_are_nearer():
    errors = [jax.jit(act.Elu(n).error)(jnp.ones(()))[1] for n in (8, 32, 128)]
    assert errors[0] > 4 * errors[1] > 16 * errors[2]


def test_closed_forms_come_out_of_the_sum():
    """At equal and opposite inputs exactly, though a rectifier's terms fall slowly."""
    q = jnp.full(3, 1.7)
    rho = jnp.asarray([1.0, -1.0, 0.6])
    for fn, closed in ((jax.nn.relu, act.Relu()), (jnp.sin, act.Sin())):
        series = act.Elementwise(fn, num_terms=16)
        found, expected = (
            jax.jit(a.dual.pair)(rho * q, q, q) for a in (series, closed)
        )
        np.testing.assert_allclose(found[0][:2], expected[0][:2], 1e-12, 1e-12)
        errors = [abs(f - e)[2] for f, e in zip(found, expected, strict=True)]
        bounds = jax.jit(series.error)(q[:1])
        assert all(e < b[0] + 1e-13 for e, b in zip(errors, bounds, strict=True))


def test_unequal_variances():
    q = (0.4, 0.5, 2.0)
    found = jax.jit(act.Tanh().dual.pair)(*map(jnp.asarray, q))
    np.testing.assert_allclose(found, cases.integrals(jnp.tanh, *q), rtol=1e-9)


def test_the_derivative_kernel_follows_from_the_kernel():
    def kernel(q_12, q_1, q_2):
        return (
            jnp.arcsin(2 * q_12 / jnp.sqrt((1 + 2 * q_1) * (1 + 2 * q_2))) * 2 / jnp.pi
        )

    layer = act.Elementwise(jax.scipy.special.erf, kernel)
    values = jax.jit(layer.dual.pair)(*cases.covariances())
    closed, _ = cases.with_slopes("erf")(*cases.covariances())
    for found, expected in zip(values, closed, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    assert all((bound == 0).all() for bound in layer.error(jnp.ones(3)))


def test_a_given_derivative_kernel_is_used():
    layer = act.Elementwise(
        jnp.square, lambda c, p, q: p * q + 2 * c * c, lambda c, p, q: 5 * c
    )
    assert layer.dual.single(jnp.ones(()))[1] == 5


def test_equal_layers_are_equal():
    assert act.Tanh() == act.Elementwise(jnp.tanh)
    assert hash(act.Polynomial((1.0, 2.0))) == hash(act.Polynomial([1.0, 2.0]))
    assert repr(act.Tanh()) == "Elementwise(tanh)"


def test_messages(no_type_checks):
    with pytest.raises(
        ValueError, match="even number of Hermite polynomials.*got .*=7"
    ):
        act.Elementwise(jnp.tanh, num_terms=7)
    with pytest.raises(ValueError, match="`derivative_integral` without `integral`"):
        act.Elementwise(jnp.tanh, derivative_integral=lambda c, p, q: c)
    with pytest.raises(ValueError, match="Monomial needs a whole number.*got -1"):
        act.Monomial(-1)
    with pytest.raises(ValueError, match="Hermite needs a whole number.*got 1.5"):
        act.Hermite(1.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="RectifiedMonomial needs .*got -2"):
        act.RectifiedMonomial(-2)
    with pytest.raises(ValueError, match="at least one coefficient"):
        act.Polynomial(())
    with pytest.raises(NotImplementedError, match="a kernel without a function"):
        act.ExpNormalized().dual.fn(jnp.ones(3))
