import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import theory
from tests.helpers import psd_from_eigenvalues
from tests.theory.problems import normal, sphere


@pytest.fixture(scope="module")
def H():
    return psd_from_eigenvalues(
        jnp.array([5.0, 2, 1, 0.5, 0.1, 0.1, 0]), jax.random.key(0)
    )[0]


def test_complexity_is_the_mean_over_all_signs(H):
    signs = np.array(list(itertools.product([-1, 1], repeat=7)), float)
    exact = 3 / 7 * np.sqrt(np.einsum("si,ij,sj->s", signs, H, signs)).mean()
    found = theory.rademacher_complexity(H, 3.0, key=jax.random.key(1), num_draws=4000)
    assert abs(found.value - exact) < 4 * found.standard_error < 0.05 * exact


def test_supremum_is_that_over_the_ball(getkey):
    features, key = normal(0, 6, 4), getkey()
    found = theory.rademacher_complexity(
        features @ features.T, 2.0, key=key, num_draws=2
    )
    signs = jax.random.rademacher(key, (6, 2), jnp.float64)
    best = []
    for s in signs.T:  # ascend <sum s_i phi_i, w> on the sphere of radius 2
        slope = s @ features
        w = 2 * slope / jnp.linalg.norm(slope)
        others = 2 * sphere(1, 100, 4)
        assert float(slope @ w) >= float((others @ np.asarray(slope)).max())
        best.append(float(slope @ w) / 6)
    assert found.value == pytest.approx(np.mean(best))


def test_bounds_are_in_order_and_jensen_loses_at_most_root_two(H):
    found = theory.rademacher_complexity(H, 1.0, key=jax.random.key(2))
    bound = theory.rademacher_bound(H, 1.0)
    largest = float(jnp.sqrt(jnp.diagonal(H).max()))
    assert found.value + 3 * found.standard_error >= bound / 2**0.5
    assert found.value - 3 * found.standard_error <= bound
    assert bound <= theory.rademacher_bound_by_norm(largest, 7, 1.0)


def test_radius_below_zero_is_refused(H):
    with pytest.raises(
        ValueError, match="`radius` must be a finite number, 0 or above"
    ):
        theory.rademacher_bound(H, -1.0)
    with pytest.raises(ValueError, match="`num_draws` must be at least 2, got 1"):
        theory.rademacher_complexity(H, 1.0, key=jax.random.key(0), num_draws=1)


def test_matrix_must_be_finite():
    blind = np.diag([1.0, np.nan])
    for call in (
        lambda: theory.rademacher_bound(blind, 1.0),
        lambda: theory.rademacher_complexity(blind, 1.0, key=jax.random.key(0)),
        lambda: theory.random_label_floor(blind),
    ):
        message = r"`H` holds NaN or infinite entries, 1 of 4, the first at \(1, 1\)"
        with pytest.raises(ValueError, match=message):
            call()


def test_matrix_must_be_one_of_inner_products():
    key = jax.random.key(0)
    with pytest.raises(ValueError, match="signs has the squared norm -2: pass inner"):
        theory.rademacher_complexity(-np.eye(2), 1.0, key=key)
    with pytest.raises(ValueError, match="the trace of `H` must be .* got -2.0"):
        theory.rademacher_bound(-np.eye(2), 1.0)
    with pytest.raises(ValueError, match="the trace of `H` must be .* above 0"):
        theory.random_label_floor(np.zeros((2, 2)))
    # what rounding leaves of a singular one is 0
    flat = np.outer([1.0, -1.0], [0.1, -0.1]) * 3
    found = theory.rademacher_complexity(flat, 1.0, key=key, num_draws=500)
    assert found.value == pytest.approx(np.sqrt(1.2) / 4, rel=0.2)


def test_matrix_must_be_square(no_type_checks):
    with pytest.raises(ValueError, match="`H` must be a square Gram matrix"):
        theory.rademacher_bound(jnp.ones((2, 3)), 1.0)
