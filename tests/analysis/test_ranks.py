import numpy as np
import pytest
import scipy.stats

from tangentlab.analysis import (
    kendall,
    largest_kendall,
    partial_spearman,
    spearman,
)

SERIES = np.random.default_rng(0).normal(size=(3, 4, 12))
TIED = np.round(2 * SERIES)


@pytest.mark.parametrize("values", [SERIES, TIED], ids=["distinct", "tied"])
@pytest.mark.parametrize(
    ("ours", "reference"),
    [(spearman, scipy.stats.spearmanr), (kendall, scipy.stats.kendalltau)],
)
def test_correlations_match_scipy_on_many_series_at_once(ours, reference, values):
    a, b, _ = values
    expected = [reference(*pair).statistic for pair in zip(a, b, strict=True)]
    np.testing.assert_allclose(ours(a, b), expected, rtol=1e-12)
    assert float(ours(a[0], b[0])) == pytest.approx(expected[0])


def test_partial_correlation_is_that_of_residuals_of_ranks():
    a, b, c = (scipy.stats.rankdata(v[0]) for v in TIED)
    design = np.c_[np.ones_like(c), c]
    left = [v - design @ np.linalg.lstsq(design, v)[0] for v in (a, b)]
    expected = np.corrcoef(*left)[0, 1]
    assert float(partial_spearman(*TIED[:, 0])) == pytest.approx(expected)


def test_a_shared_trend_is_correlation_but_not_partial_correlation():
    rng = np.random.default_rng(1)
    j = np.geomspace(1, 1000, 400)
    a, b = (-np.log(j) + rng.normal(size=400) for _ in range(2))
    assert spearman(a, b) > 0.3
    assert abs(partial_spearman(a, b, np.log(j))) < 0.15
    assert partial_spearman(a, b, np.log(j)) == partial_spearman(a, b, j)


def test_runs_that_never_end_rank_as_ties_at_the_maximum():
    steps = np.array([3.0, 7.0, np.inf, np.inf, np.inf])
    finite = np.where(np.isinf(steps), 9.0, steps)
    expected, _ = scipy.stats.kendalltau(np.arange(5), finite)
    assert float(kendall(np.arange(5), steps)) == pytest.approx(expected)


def test_many_series_are_cut_into_parts(monkeypatch):
    whole = kendall(SERIES[0], SERIES[1])
    monkeypatch.setattr("tangentlab.analysis.ranks._AT_ONCE", 150)
    np.testing.assert_array_equal(kendall(SERIES[0], SERIES[1]), whole)


@pytest.mark.parametrize("statistic", [spearman, kendall])
def test_too_little_gives_nan(statistic):
    assert np.isnan(statistic([1, 2], [1, 2]))
    assert np.isnan(statistic([1, 2, 3], [5, 5, 5]))


def test_partial_correlation_of_what_is_explained_is_nan():
    assert np.isnan(partial_spearman([1, 2, 3, 4], [2, 1, 4, 3], [1, 2, 3, 4]))


@pytest.mark.parametrize("statistic", [spearman, kendall])
def test_sides_of_unequal_length_raise(statistic):
    with pytest.raises(ValueError, match=r"one value per task.*\(3,\), \(2,\)"):
        statistic([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match=r"no tasks to compare, got shape \(0,\)"):
        statistic([], [])


@pytest.mark.parametrize("tied", [0, 2, 5, 7])
def test_the_largest_tau_is_that_of_the_best_order(tied):
    index, values = np.arange(8.0), np.arange(8.0)
    values[8 - tied :] = np.inf
    rng = np.random.default_rng(0)
    orders = np.stack([rng.permutation(values) for _ in range(50)])
    reached = float(kendall(index, values))
    largest = largest_kendall(np.broadcast_to(index, orders.shape), orders)
    np.testing.assert_allclose(largest, reached)
    assert (kendall(np.broadcast_to(index, orders.shape), orders) <= reached).all()


def test_ties_on_both_sides_allow_no_more_than_the_largest_tau():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 200, 9))
    assert (np.abs(kendall(a, b)) <= largest_kendall(a, b) + 1e-12).all()
    assert np.isnan(largest_kendall(np.ones(5), np.arange(5)))
