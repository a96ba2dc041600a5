import numpy as np
import pytest

from tangentlab import theory


def test_fluctuation_is_that_of_random_networks():
    rng, widths = np.random.default_rng(0), [20, 10, 15]
    h = np.ones((20_000, 4))
    for width in widths:
        w = rng.normal(size=(len(h), width, h.shape[1]))
        h = np.maximum(np.einsum("sij,sj->si", w, h), 0)
    squares = (h**2).sum(axis=1)
    found = squares.var() / squares.mean() ** 2
    assert theory.norm_fluctuation(widths) == pytest.approx(found, rel=0.1)


def test_one_wide_layer_hardly_fluctuates():
    assert theory.norm_fluctuation([10_000]) == pytest.approx(5e-4)
    with pytest.raises(ValueError, match="each width must be at least 1, got 0"):
        theory.norm_fluctuation([3, 0])
