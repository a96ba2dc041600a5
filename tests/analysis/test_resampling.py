import numpy as np
import pytest
import scipy.stats

from tangentlab.analysis import bootstrap, mean, mean_gap, mean_interval, spearman

VALUES = np.random.default_rng(0).normal(1.0, 1.0, 40)


def test_intervals_match_scipys_bootstrap():
    ours = bootstrap(mean, VALUES)
    theirs = scipy.stats.bootstrap(
        (VALUES,), np.mean, method="percentile", n_resamples=9999, rng=1
    ).confidence_interval
    assert ours.value == VALUES.mean()
    np.testing.assert_allclose([ours.low, ours.high], theirs, atol=0.02)


def test_paired_values_stay_together():
    other = VALUES - 0.5
    gap = bootstrap(mean_gap, VALUES, other)
    np.testing.assert_allclose([gap.value, gap.low, gap.high], 0.5)
    assert bootstrap(spearman, VALUES, other).low == pytest.approx(1.0)


def test_equal_seeds_give_equal_intervals():
    first, second, other = (bootstrap(mean, VALUES, seed=s) for s in (0, 0, 1))
    assert first.low == second.low != other.low


def test_intervals_cover_the_truth_nineteen_times_in_twenty():
    rng = np.random.default_rng(2)
    found = [bootstrap(mean, rng.exponential(size=30), num=400) for _ in range(400)]
    assert 0.88 < np.mean([e.low <= 1 <= e.high for e in found]) <= 1


def test_doubt_is_the_share_of_replicates_on_the_wrong_side():
    found = bootstrap(mean, VALUES)
    below = (found.replicates <= 0.9).mean()
    assert found.doubt(0.9, above=True) == pytest.approx(below, abs=2e-4)
    assert found.doubt(0.9, above=False) == pytest.approx(1 - below, abs=2e-4)
    assert 0 < found.doubt(-100, above=True) < 1e-3


def test_a_statistic_without_a_value_has_no_interval():
    found = bootstrap(spearman, np.ones(5), np.arange(5))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert np.isnan(found.doubt(0, above=True))


@pytest.mark.parametrize("columns", [([],), ([1.0], [1.0, 2.0]), ([[1.0]],)])
def test_columns_of_unequal_length_raise(columns):
    with pytest.raises(ValueError, match="columns of one length, at least 1"):
        bootstrap(mean, *columns)


def test_interval_over_seeds_is_students():
    values = VALUES.reshape(5, 8)
    low, high = mean_interval(values)
    reference = scipy.stats.t.interval(
        0.95, 4, values.mean(0), scipy.stats.sem(values, axis=0)
    )
    np.testing.assert_allclose([low, high], reference)
    assert np.isnan(mean_interval(values[:1])).all()
