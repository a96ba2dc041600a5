import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab import theory
from tests.theory.problems import sphere, two_layer_weights


def relu_gap(W_0, W, a, x):
    """The gap by its definition, in numpy."""
    s, r = W_0 @ x, W @ x
    units = np.maximum(r, 0) - np.where(s > 0, r, 0)
    return abs(np.asarray(a) @ units) / len(a) ** 0.5


def network(seed, width, dim):
    a, W_0 = two_layer_weights(seed, width, dim)
    return np.asarray(a), np.asarray(W_0), sphere(seed + 1, 1, dim)[0]


def test_counts_of_units_by_hand():
    W_0 = np.array([[0.1, 0.0], [-0.5, 0.0], [2.0, 0.0], [0.0, 1.0]])
    W = np.array([[-0.1, 0.0], [-0.5, 9.0], [2.0, 0.0], [1.0, 1.0]])
    x = np.array([[3.0, 0.0], [0.0, 3.0]])
    assert theory.flip_count(W_0, W, x).tolist() == [2, 1]
    assert theory.near_hinge_count(W_0, x, 0.5).tolist() == [3, 3]


def test_near_hinge_bound_fails_as_rarely_as_it_says():
    width, threshold, failure = 200, 0.1, 0.2
    W = np.random.default_rng(0).normal(size=(2000 * width, 3))
    counts = (np.abs(W[:, 0]) <= threshold).reshape(2000, width).sum(axis=1)
    x = np.array([[1.0, 0.0, 0.0]])
    assert int(theory.near_hinge_count(W[:width], x, threshold)[0]) == counts[0]
    bound = theory.near_hinge_bound(width, threshold, failure)
    assert (counts > bound).mean() <= failure
    assert bound == pytest.approx(20 + np.sqrt(100 * np.log(5)))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**16),
    width=st.sampled_from([1, 5, 40]),
    radius=st.floats(0.01, 20.0),
)
def test_gap_is_bounded_by_flips_and_by_the_largest_gap(seed, width, radius):
    a, W_0, x = network(seed, width, 3)
    move = np.random.default_rng(seed + 2).normal(size=W_0.shape)
    W = W_0 + radius * move / np.linalg.norm(move)
    gap = relu_gap(W_0, W, a, x)
    flips = int(theory.flip_count(W_0, W, x[None])[0])
    assert gap <= theory.gap_from_flips(radius, flips, width) + 1e-12
    assert gap <= theory.relu_largest_gap(W_0, a, x, radius).gap + 1e-12
    assert gap <= radius + 1e-12


@pytest.mark.parametrize("radius", [0.3, 1.0, 4.0])
def test_largest_gap_is_attained_inside_the_ball(radius):
    a, W_0, x = network(0, 50, 4)
    found = theory.relu_largest_gap(W_0, a, 2 * x, radius)
    assert found.gap == pytest.approx(relu_gap(W_0, found.W, a, 2 * x))
    assert np.linalg.norm(found.W - W_0) == pytest.approx(radius)
    flipped = theory.flip_count(W_0, found.W, (2 * x)[None])
    assert int(flipped[0]) == found.num_moved
    assert found.num_moved <= theory.flip_count_bound(radius, 50, 0.01)


def test_largest_gap_matches_brute_force_over_sets_of_units():
    a, W_0, x = network(3, 8, 2)
    s, best = np.abs(W_0 @ x), 0.0
    for sign in (1, -1):
        units = np.flatnonzero(a == sign)
        for subset in range(1, 2 ** len(units)):
            chosen = units[[bool(subset >> i & 1) for i in range(len(units))]]
            value = 1.5 * np.sqrt(len(chosen)) - s[chosen].sum()
            best = max(best, value / np.sqrt(8))
    assert theory.relu_largest_gap(W_0, a, x, 1.5).gap == pytest.approx(best)


def test_largest_gap_stays_below_the_bound_and_falls_as_width_to_minus_a_sixth():
    widths = [100, 1000, 10_000]
    gaps = []
    for width in widths:
        found = [theory.relu_largest_gap(*reordered(i, width), 1.0) for i in range(12)]
        bound = theory.relu_linearization_bound(1.0, width, 0.05)
        assert max(one.gap for one in found) <= bound
        gaps.append(np.mean([one.gap for one in found]))
    slope = np.polyfit(np.log(widths), np.log(gaps), 1)[0]
    assert slope == pytest.approx(-1 / 6, abs=0.02)


def reordered(seed, width):
    a, W_0, x = network(seed, width, 3)
    return W_0, a, x


def test_no_more_units_flip_than_the_bound_says():
    width, radius = 500, 1.0
    bound = theory.flip_count_bound(radius, width, 0.05)
    assert bound == pytest.approx(
        2 * width ** (2 / 3) + np.sqrt(width / 2 * np.log(20))
    )
    for seed in range(10):
        _, W_0, x = network(seed, width, 3)
        s = np.sort(np.abs(W_0 @ x))  # flip as many as the radius buys
        most = int((np.cumsum(s**2) <= radius**2).sum())
        assert most <= bound
    assert theory.flip_count_bound(1e3, 10, 0.05) == 10.0


def test_unequal_output_weights_are_refused():
    a, W_0, x = network(0, 5, 2)
    with pytest.raises(ValueError, match="weights of one magnitude, got magnitudes"):
        theory.relu_largest_gap(W_0, a * np.arange(1.0, 6.0), x, 1.0)
    with pytest.raises(ValueError, match="the norm of `x` must be"):
        theory.relu_largest_gap(W_0, a, 0 * x, 1.0)


def test_nan_is_refused_not_counted():
    a, W_0, x = network(0, 5, 2)
    blind = W_0.copy()
    blind[3, 1] = np.nan
    message = r"`W(_0)?` holds NaN or infinite entries, 1 of 10, the first at \(3, 1\)"
    for call in (
        lambda: theory.relu_largest_gap(blind, a, x, 1.0),
        lambda: theory.near_hinge_count(blind, x[None], 0.5),
        lambda: theory.flip_count(W_0, blind, x[None]),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match="`threshold` must be a finite number"):
        theory.near_hinge_count(W_0, x[None], -1.0)


def test_counting_runs_under_jit():
    _, W_0, x = network(0, 5, 2)
    count = jax.jit(theory.flip_count)(jnp.asarray(W_0), -W_0, x[None])
    assert int(count[0]) == 5
