import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import theory
from tests.theory.problems import normal, sphere, two_layer_weights


def test_search_reaches_the_bound_where_that_is_attained(getkey):
    a, W_0 = jnp.ones(5), normal(0, 5, 3)
    apply = theory.two_layer(a, lambda z: z**2 / 2)
    x = jnp.asarray(sphere(1, 2, 3))
    found = theory.search_gap(apply, W_0, x, 2.0, key=getkey(), num_starts=4)
    bound = theory.smooth_linearization_bound(2.0, 5, 1.0)
    np.testing.assert_allclose(found.gaps, bound, rtol=1e-3)
    assert float(found.gaps.max()) <= bound * (1 + 1e-12)


def test_search_does_not_break_the_bound_of_tanh(getkey):
    a, W_0 = two_layer_weights(0, 20, 3)
    apply, x = theory.two_layer(a, jnp.tanh), jnp.asarray(sphere(1, 3, 3))
    found = theory.search_gap(apply, W_0, x, 1.0, key=getkey())
    bound = theory.smooth_linearization_bound(1.0, 20, theory.TANH_CURVATURE)
    assert float(found.gaps.max()) <= bound
    assert float(found.gaps.min()) > 0.3 * bound  # and comes near
    assert found.params.shape == (3, 20, 3)
    for W, row, gap in zip(found.params, x, found.gaps, strict=True):
        assert float(jnp.linalg.norm(W - W_0)) <= 1.0 + 1e-12
        exact = apply(W, row[None]) - tl.linearize(apply, W_0)(W, row[None])
        assert float(jnp.abs(exact[0, 0])) == pytest.approx(float(gap))


def test_search_stays_below_the_largest_gap_of_relu(getkey):
    a, W_0 = two_layer_weights(0, 60, 3)
    x = jnp.asarray(sphere(1, 3, 3))
    found = theory.search_gap(theory.two_layer(a), W_0, x, 2.0, key=getkey())
    for row, gap in zip(x, found.gaps, strict=True):
        largest = theory.relu_largest_gap(W_0, a, row, 2.0).gap
        assert 0.5 * largest < float(gap) <= largest * (1 + 1e-12)


def test_search_takes_any_parameters_and_outputs(getkey):
    def apply(params, x):
        return jnp.tanh(x["a"] @ params["w"]) * params["n"].astype(x["a"].dtype)

    params = {"w": normal(0, 3, 2), "n": jnp.array(2)}
    x = {"a": jnp.asarray(sphere(1, 2, 3))}
    found = theory.search_gap(
        apply, params, x, 1.0, key=getkey(), num_starts=2, num_steps=5
    )
    assert found.gaps.shape == (2,) and float(found.gaps.min()) > 0
    assert found.params["n"].tolist() == [2, 2]


def test_search_refuses_no_steps(getkey):
    with pytest.raises(ValueError, match="`num_steps` must be at least 1, got 0"):
        theory.search_gap(
            lambda w, x: x @ w, jnp.ones((1, 1)), jnp.ones((1, 1)), 1.0,
            key=getkey(), num_steps=0,
        )  # fmt: skip
