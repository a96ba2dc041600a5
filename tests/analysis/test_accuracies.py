import math

import numpy as np
import pytest
import scipy.stats

from tangentlab.analysis import accuracy_interval, binarization_overlap


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
