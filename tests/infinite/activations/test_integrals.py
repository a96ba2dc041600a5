"""Each activation's two integrals against grids, samples, differences, each other."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import cases

SMOOTH = sorted(set(cases.EVERY) - cases.JUMPS)


def at_pairs(name):
    return cases.with_slopes(name)(*cases.covariances())


@pytest.mark.parametrize("name", cases.CLOSED)
def test_closed_forms_match_a_fine_grid_and_samples(name):
    fn = cases.CLOSED[name].dual.fn
    values, _ = at_pairs(name)
    for number, i in enumerate(cases.GENERAL):
        q_12, q_1, q_2 = q = [float(each[i]) for each in cases.covariances()]
        found = [value[i] for value in values]
        np.testing.assert_allclose(
            found, cases.integrals(fn, q_12, q_1, q_2), 1e-9, 1e-11
        )
        if number < 2:
            cases.check_samples(fn, q, found)


@pytest.mark.parametrize("name", cases.EVERY)
def test_one_variable_is_a_pair_of_equals(name):
    q = jnp.tile(jnp.asarray([0.0, 1e-3, 0.7, 2.0]), 9)
    pair, _ = cases.with_slopes(name)(q, q, q)
    single = jax.jit(cases.EVERY[name].dual.single)(q)
    for found, expected in zip(single, pair, strict=True):
        assert found.shape == q.shape and found.dtype == q.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", SMOOTH)
def test_the_derivative_kernel_is_the_derivative_of_the_kernel(name):
    """Price's theorem, at coincident and opposite inputs too."""
    (_, kdot), (slopes, _) = at_pairs(name)
    some = np.array(cases.POSITIVE)
    tolerance = 2e-3 if name in cases.FEW_TERMS else 1e-11
    np.testing.assert_allclose(slopes[0][some], kdot[some], tolerance, tolerance)


@pytest.mark.parametrize("name", cases.EVERY)
def test_gradients_are_finite_at_coincident_opposite_and_zero_inputs(name):
    for array in jax.tree.leaves(at_pairs(name)):
        assert jnp.isfinite(array).all()


@pytest.mark.parametrize("name", cases.EVERY)
def test_gradients_match_differences(name):
    q = cases.covariances()
    change = np.random.default_rng(1).normal(size=(3, 36))
    step, some = 1e-5, np.array(cases.GENERAL)
    (above, _), (below, _) = (
        cases.with_slopes(name)(*[a + s * t for a, t in zip(q, change, strict=True)])
        for s in (step, -step)
    )
    _, slopes = at_pairs(name)
    for i in range(2):
        difference = (above[i] - below[i])[some] / (2 * step)
        slope = (np.asarray(slopes[i]) * change).sum(0)
        np.testing.assert_allclose(slope[some], difference, rtol=1e-6, atol=1e-7)


@settings(deadline=None, max_examples=40)
@given(
    name=st.sampled_from(sorted(set(cases.EVERY) - {"exp_normalized"})),
    seed=st.integers(0, 2**16),
    scale=st.floats(0.01, 2.0),
)
def test_the_kernel_is_symmetric_positive_and_blind_to_order(name, seed, scale):
    x = scale * np.random.default_rng(seed).normal(size=(6, 3))
    order = np.random.default_rng(seed + 1).permutation(6)
    gram = jnp.asarray((x[:, None] * x[None]).sum(-1))
    shuffled = gram[order][:, order]
    found, moved = (_kernel(name, g) for g in (gram, shuffled))
    for k, other in zip(found, moved, strict=True):
        size = np.abs(k).max() + 1e-300
        np.testing.assert_allclose(k, k.T, rtol=0, atol=1e-13 * size)
        np.testing.assert_allclose(k[order][:, order], other, atol=1e-13 * size)
        assert np.linalg.eigvalsh(k)[0] > -1e-12 * size


def _kernel(name, gram):
    q = jnp.diag(gram)
    flat = (a.ravel() for a in (gram, *jnp.broadcast_arrays(q[:, None], q[None, :])))
    (k, kdot), _ = cases.with_slopes(name)(*flat)
    return np.asarray(k).reshape(6, 6), np.asarray(kdot).reshape(6, 6)


@pytest.mark.parametrize("name", ["relu", "gelu", "sin", "rectified_2"])
def test_variances_broadcast_and_float32_stays(name):
    pair = jax.jit(cases.EVERY[name].dual.pair)
    q_12, q_1, q_2 = (q.astype(jnp.float32) for q in cases.covariances())
    flat = cases.with_slopes(name)(*cases.covariances())[0]
    square = q_12.reshape(6, 6), q_1.reshape(6, 6)[:, :1], q_2.reshape(6, 6)[:1]
    for found, expected in zip(pair(*square), flat, strict=True):
        assert found.shape == (6, 6) and found.dtype == jnp.float32
        error = np.abs(np.asarray(found).ravel() - np.asarray(expected))
        assert error.max() < 3e-4 and np.median(error) < 1e-6


@pytest.mark.parametrize("name", ["relu", "abrelu", "sign", "rectified_2"])
def test_float32_is_right_to_rounding_up_to_equal_and_opposite_inputs(name):
    """Angles down to those between neighbors of 1, at covariances that float32 has."""
    small = np.geomspace(1e-4, 0.1, 200)
    theta = np.concatenate([[0.0], small, np.linspace(0.1, np.pi - 0.1, 801)])
    theta = np.concatenate([theta, np.pi - small[::-1], [np.pi]])
    rho = np.cos(theta).astype(np.float32)
    pair = jax.jit(cases.EVERY[name].dual.pair)
    q = jnp.asarray(rho), jnp.ones_like(rho), jnp.ones_like(rho)
    exact = pair(*(each.astype(jnp.float64) for each in q))
    for found, expected in zip(pair(*q), exact, strict=True):
        assert found.dtype == jnp.float32
        size = max(1.0, np.abs(expected).max())
        error = np.abs(np.asarray(found, float) - expected) / size
        assert error.max() < 5e-7 and np.median(error) < 1e-7


def test_a_rectifier_takes_one_root_and_no_arc_function_a_pair():
    """What is applied to hundreds of millions of pairs is counted."""
    pair = jax.jit(cases.EVERY["relu"].dual.pair)
    q = jnp.ones((8, 8)), jnp.ones((8, 1)), jnp.ones((1, 8))
    program = str(pair.lower(*q).compile().as_text())
    operations = re.findall(r"= f64\[8,8\]\S* (\w+)\(", program)
    assert operations.count("sqrt") == 1
    assert operations.count("divide") <= 1
    assert not {"atan2", "acos", "power", "exponential"} & set(operations)
