"""Which samples each step sees."""

import jax
import numpy as np

import tangentlab as tl
from tangentlab.training.batches import epoch_batches

KEY = jax.random.key(0)


def test_batches_are_fresh_permutations_without_the_remainder():
    recipe = tl.Recipe(batch_size=4)
    first, second = (np.asarray(epoch_batches(KEY, e, 10, recipe)) for e in (0, 1))
    assert first.shape == (2, 4)
    assert len(set(first.ravel())) == 8 and set(first.ravel()) <= set(range(10))
    assert (first != second).any()
    np.testing.assert_array_equal(first, epoch_batches(KEY, 0, 10, recipe))
