import math

import numpy as np
import pytest
import scipy.stats

from tangentlab.analysis import (
    accuracy_interval,
    binarization_overlap,
    rank_correlation,
)


def test_rank_correlation_sees_order_alone():
    assert rank_correlation([1, 2, 3, 4], [1, 8, 27, 64]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    ties = rank_correlation([1, 2, 3, 4], [1, 1, 2, 2])
    assert ties == pytest.approx(np.corrcoef([1, 2, 3, 4], [1.5, 1.5, 3.5, 3.5])[0, 1])


def test_rank_correlation_of_too_little_is_nan():
    assert math.isnan(rank_correlation([1, 2], [1, 2]))
    assert math.isnan(rank_correlation([1, 2, 3], [5, 5, 5]))


def test_rank_correlation_needs_pairs():
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(2,\)"):
        rank_correlation([1, 2, 3], [1, 2])


def test_signs_of_gaussian_vectors_keep_80_percent():
    v = np.random.default_rng(0).normal(size=(20_000, 3))
    overlap = binarization_overlap(v / np.linalg.norm(v, axis=0))
    np.testing.assert_allclose(overlap, math.sqrt(2 / math.pi), atol=0.01)
    assert binarization_overlap(np.full((4, 1), 0.5)) == pytest.approx(1)


@pytest.mark.parametrize("p", [0.5, 0.9, 1.0])
def test_interval_covers_the_truth_nineteen_times_in_twenty(p):
    measured = np.random.default_rng(1).binomial(200, p, size=20_000) / 200
    low, high = accuracy_interval(measured, 200)
    covered = ((low <= p) & (p <= high)).mean()
    assert covered > 0.93
    assert (low >= 0).all() and (high <= 1).all() and (low < high).all()


def test_interval_matches_scipy():
    reference = scipy.stats.binomtest(45, 60).proportion_ci(method="wilson")
    low, high = accuracy_interval(np.array([0.75]), 60)
    assert (low[0], high[0]) == pytest.approx((reference.low, reference.high))
