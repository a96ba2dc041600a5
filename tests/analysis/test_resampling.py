import numpy as np
import pytest
import scipy.stats

from tangentlab.analysis import (
    bootstrap,
    distance,
    judge,
    mean,
    mean_gap,
    mean_interval,
    over_draws,
    spearman,
)

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


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_a_mean_over_draws_is_judged_by_students_test(n):
    values = VALUES[:n]
    found = over_draws(values)
    reference = scipy.stats.t.interval(
        0.95, n - 1, values.mean(), scipy.stats.sem(values)
    )
    assert found.value == values.mean()
    np.testing.assert_allclose([found.low, found.high], reference)
    for threshold in (-30.0, -1.0, 0.3, found.low, found.high, 4.0):
        t = (values.mean() - threshold) / scipy.stats.sem(values)
        for above, tail in ((True, scipy.stats.t.sf), (False, scipy.stats.t.cdf)):
            p = float(tail(t, n - 1))
            doubt = found.doubt(threshold, above=above)
            assert p <= doubt <= p + 1.1e-4  # rounded up, never down


STUDENTS, RESAMPLED = over_draws, lambda values: bootstrap(mean, values, num=400)


def simulated(rule, n: int) -> list:
    """Intervals of means of normal numbers around 0."""
    rng = np.random.default_rng(n)
    return [rule(row) for row in rng.normal(size=(3000, n))]


def error_of(share: float) -> float:
    return 4 * np.sqrt(share * (1 - share) / 3000)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_draws_cover_the_truth_as_often_as_they_say(n):
    def covered(rule) -> float:
        return float(np.mean([e.low <= 0 <= e.high for e in simulated(rule, n)]))

    assert covered(STUDENTS) == pytest.approx(0.95, abs=error_of(0.95))
    assert covered(RESAMPLED) < 0.86


@pytest.mark.parametrize("n", [3, 5])
def test_few_draws_confirm_what_is_not_so_no_more_often_than_they_say(n):
    def confirmed(rule) -> float:
        found = [judge([each], 0.0, above=True) for each in simulated(rule, n)]
        return float(np.mean([verdict == ["confirmed"] for verdict in found]))

    assert confirmed(STUDENTS) < 0.025 + error_of(0.025)
    assert confirmed(RESAMPLED) > 0.06


def test_equal_draws_have_no_spread_and_a_single_one_has_no_interval():
    same = over_draws([0.5, 0.5, 0.5])
    assert (same.value, same.low, same.high) == (0.5, 0.5, 0.5)
    assert judge([same, same], 0.0, above=True) == ["confirmed"] * 2
    single = over_draws([0.5])
    assert (single.value, single.low, single.high) == (0.5, 0.5, 0.5)
    assert judge([single], 0.0, above=True) == ["inconclusive"]
    assert np.isnan(over_draws([0.5, np.nan]).doubt(0.0, above=True))
    with pytest.raises(ValueError, match=r"list of values, got shape \(0,\)"):
        over_draws([])


def test_beyond_turns_a_number_so_that_zero_is_the_threshold():
    found = bootstrap(mean, VALUES)
    below = found.beyond(3.0, above=False)
    assert below.value == pytest.approx(3.0 - found.value)
    assert below.low == pytest.approx(3.0 - found.high) and below.low < below.high
    assert below.doubt(0.0, above=True) == found.doubt(3.0, above=False)
    assert found.beyond(0.5, above=True).low == pytest.approx(found.low - 0.5)


@pytest.mark.parametrize("target", [0.7, 1.3])
def test_a_distance_is_small_where_all_of_the_interval_is_near(target):
    found = over_draws([0.9, 1.0, 1.1, 1.0, 1.0])
    off = distance(found, target)
    assert off.value == pytest.approx(0.3)
    assert off.high == pytest.approx(0.3 + found.high - 1.0)
    assert distance(found, 1.0).low == 0.0
    assert judge([off], 0.41, above=False) == ["confirmed"]
    assert judge([off], 0.33, above=False) == ["inconclusive"]
    assert judge([off], 0.19, above=False) == ["refuted"]
