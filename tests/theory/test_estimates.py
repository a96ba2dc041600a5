import itertools

import numpy as np
import pytest

from tangentlab import theory
from tangentlab.theory.estimates import mean_of


def test_mean_knows_its_error():
    draws = np.random.default_rng(0).normal(2.0, 3.0, size=(500, 40))
    found = [mean_of(row) for row in draws]
    spread = np.std([one.value for one in found])
    assert np.mean([one.standard_error for one in found]) == pytest.approx(
        spread, rel=0.1
    )


def test_two_batches_are_split_halves():
    sums = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = theory.squared_norm_of_mean(sums, np.array([2, 5]))
    assert found.value == pytest.approx(sums[0] @ sums[1] / 10)
    assert found.plug_in == pytest.approx((25 + 49 + 81) / 49)
    assert np.isnan(found.standard_error)


def test_pairs_of_batches_by_brute_force():
    rng = np.random.default_rng(1)
    counts, sums = np.array([1, 3, 2, 4]), rng.normal(size=(4, 3))
    pairs = list(itertools.combinations(range(4), 2))
    products = sum(sums[a] @ sums[b] for a, b in pairs)
    weights = sum(counts[a] * counts[b] for a, b in pairs)
    found = theory.squared_norm_of_mean(sums, counts)
    assert found.value == pytest.approx(products / weights)
    without = [
        theory.squared_norm_of_mean(np.delete(sums, i, 0), np.delete(counts, i)).value
        for i in range(4)
    ]
    assert found.standard_error == pytest.approx(np.sqrt(3 * np.var(without)))


def test_estimate_is_unbiased_and_its_error_is_right():
    rng, mean = np.random.default_rng(2), np.array([2.0, -1.0, 0.5])
    draws = mean + rng.normal(size=(1500, 10, 3))
    found = [theory.squared_norm_of_mean(g, np.ones(10, int)) for g in draws]
    values = np.array([one.value for one in found])
    assert abs(values.mean() - mean @ mean) < 4 * values.std() / np.sqrt(1500)
    plugs = np.mean([one.plug_in for one in found])
    assert plugs == pytest.approx(mean @ mean + 0.3, abs=0.15)
    errors = np.mean([one.standard_error**2 for one in found]) ** 0.5
    assert errors == pytest.approx(values.std(), rel=0.1)


def test_one_batch_is_refused():
    with pytest.raises(ValueError, match="the number of batches must be at least 2"):
        theory.squared_norm_of_mean(np.ones((1, 2)), np.array([1]))
