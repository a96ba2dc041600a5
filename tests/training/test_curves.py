"""Counting iterations to a small loss, and losses of tasks that diverge."""

import numpy as np

import tangentlab as tl
from tangentlab.training.curves import extend, no_curves

RECIPE = tl.Recipe(batch_size=2)


def _curves(*epochs):
    """Of two runs, from the mean losses of the batches of each epoch."""
    curves = no_curves((2,), np.dtype(np.float32))
    for losses in epochs:
        sums = 2 * np.array(losses, np.float32)  # of two samples
        seen = np.stack([sums, np.ones_like(sums)], axis=-1)
        curves = extend(curves, seen, np.zeros((2, 2), np.float32), RECIPE)
    return curves


def test_iterations_are_counted_by_batch_and_by_epoch():
    first = [[0.5, 0.5], [0.4, 0.5], [0.009, 0.5]]
    second = [[0.3, 0.5], [0.01, 0.5], [0.02, 0.5]]
    third = [[0.008, 0.02], [0.01, 0.02], [0.009, 0.02]]
    curves = _curves(first, second, third)
    assert curves.by_batch.tolist() == [2.0, np.inf]
    assert curves.by_epoch.tolist() == [9.0, np.inf]
    means = np.mean([first, second, third], axis=1)
    np.testing.assert_allclose(curves.rows[..., 0], means, rtol=1e-6)
    assert (curves.rows[..., 1] == 0.5).all()


def test_once_small_stays_counted():
    curves = _curves([[0.001, 0.5]], [[0.5, 0.001]], [[0.001, 0.5]])
    assert curves.by_batch.tolist() == [0.0, 1.0]
    assert curves.by_epoch.tolist() == [1.0, 2.0]


def test_losses_too_large_to_sum_are_no_error():
    curves = _curves([[1e38, 0.5], [1e38, np.nan], [1e38, 0.5]])
    assert curves.rows[0, 0, 0] == np.inf and np.isnan(curves.rows[0, 1, 0])
    assert (curves.by_batch == np.inf).all()
