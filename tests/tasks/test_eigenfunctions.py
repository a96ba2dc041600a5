import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import psd_from_eigenvalues


def _dataset(n=6, num_train=4):
    x = np.arange(2.0 * n).reshape(n, 2)
    return tl.Dataset(x, np.zeros(n, int), ("only",), num_train, name="points")


def test_labels_are_signs_with_zero_in_class_zero():
    V = np.array([[0.5, 1.0], [0.0, 0.2], [-0.3, 0.1]])
    spectrum = tl.Spectrum(
        np.array([2.0, 1.0]), V, np.zeros(2), np.array([False, True]), 0.0, 0, 0
    )
    task = tl.tasks.eigenfunction(spectrum, 0, _dataset(3, 2))
    assert task.y.tolist() == [1.0, 0.0, 0.0]
    assert (task.index, task.num_train, task.unresolved) == (0, 2, False)
    other = tl.tasks.eigenfunction(spectrum, 1, _dataset(3, 2))
    assert other.balance == 1.0 and other.degenerate and other.unresolved


def test_tasks_share_their_samples():
    K, _ = psd_from_eigenvalues(jnp.arange(1.0, 7.0), jax.random.key(0))
    dataset = _dataset()
    made = [tl.tasks.eigenfunction(tl.spectrum(K), i, dataset) for i in range(3)]
    assert all(task.x is dataset.x for task in made)
    assert len({tuple(task.y) for task in made}) == 3


@pytest.mark.parametrize("index", [-1, 6])
def test_index_outside_the_spectrum_raises(index):
    with pytest.raises(ValueError, match=r"0\.\.5 .* the paper's phi_1"):
        tl.tasks.eigenfunction(tl.spectrum(np.eye(6)), index, _dataset())


def test_spectrum_of_other_samples_raises():
    with pytest.raises(ValueError, match="spectrum is of 5 samples"):
        tl.tasks.eigenfunction(tl.spectrum(np.eye(5)), 0, _dataset())
