import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from tangentlab import predict
from tests.helpers import assert_close

from .problems import case


def _by_enumeration(K, y):
    """Try every set of support vectors: one of them is optimal."""
    Q, n = np.outer(y, y) * K, len(y)
    for size in range(1, n + 1):
        for chosen in itertools.combinations(range(n), size):
            inside = np.ix_(chosen, chosen)
            some = np.linalg.solve(Q[inside], np.ones(size))
            alpha = np.zeros(n)
            alpha[list(chosen)] = some
            if some.min() > 0 and (Q @ alpha).min() > 1 - 1e-9:
                return y * alpha
    raise AssertionError("no set of support vectors is optimal")


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_solution_found_by_trying_all_support_vectors(seed):
    p = case(seed=seed, features=10)
    y = np.sign(p.y)
    found = predict.hard_margin(p.K, y)
    assert_close(found.coefficients, _by_enumeration(p.K, y))
    assert_close(found.squared_norm, np.abs(found.coefficients).sum())
    assert_close(found.outputs, p.K @ found.coefficients)
    assert found.residuals is not None and found.residuals < 1e-9


def test_it_is_the_support_vector_machine_of_another_library():
    random = np.random.default_rng(0)
    x = random.standard_normal((60, 4))
    y = np.sign(x @ np.array([1.0, -2.0, 0.5, 0.0]))
    found = predict.hard_margin(x @ x.T, y)
    other = LinearSVC(
        C=1e6, loss="hinge", fit_intercept=False, max_iter=10**7, tol=1e-8
    ).fit(x, y)
    np.testing.assert_allclose(x.T @ found.coefficients, other.coef_[0], rtol=1e-3)
    assert (found.coefficients != 0).sum() <= 6  # few samples carry the margin
    assert found.num_unresolved == 56


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), scale=st.floats(1e-6, 1e6))
def test_the_direction_does_not_depend_on_units_or_order(seed, scale):
    p = case(seed=seed, features=10)
    y = np.sign(p.y)
    order = np.random.default_rng(seed).permutation(8)
    plain = predict.hard_margin(p.K, y)
    turned = predict.hard_margin(scale * p.K[np.ix_(order, order)], y[order])
    assert_close(scale * turned.coefficients, plain.coefficients[order])
    assert_close(turned.outputs, plain.outputs[order])


def test_it_is_no_further_than_the_interpolating_solution():
    p = case(seed=2, features=10)
    y = np.sign(p.y)
    margin = predict.hard_margin(p.K, y)
    assert (margin.coefficients == 0).any()
    assert margin.squared_norm < predict.ridgeless(p.K, y).squared_norm


@pytest.mark.parametrize(
    ("K", "y", "message"),
    [
        (np.ones((2, 2)), [1.0, -1.0], "rank 1 on 2 samples, cannot separate"),
        (np.zeros((2, 2)), [1.0, -1.0], "rank 0 on 2 samples, cannot separate"),
        (np.eye(2), [1.0, 0.0], r"-1 or \+1 .* \[0. 1.\].*2.0 \* y - 1.0"),
        (np.eye(2), [[1.0], [1.0]], r"got shape \(2, 1\)"),
    ],
)
def test_what_has_no_margin_raises(K, y, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        predict.hard_margin(K, np.array(y))
    with pytest.raises(ValueError, match="violations below 1e-99 was found, only"):
        predict.hard_margin(case().K, np.sign(case().y), tolerance=1e-99)
