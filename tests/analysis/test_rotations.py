"""The single-axis rotation score."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.analysis import rotation, rotation_of
from tests.networks import dense_apply

from .problems import N, mean_kernel, network


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**16), index=st.integers(0, 99), scale=st.floats(1e-3, 1e3))
def test_definitions_written_down(seed, index, scale):
    rng = np.random.default_rng(seed)
    before, after = rng.uniform(0.1, 1, 100), rng.uniform(0.1, 1, 100)
    found = rotation(scale * after, before, index)
    g = scale * after / before
    others = [g[k] for k in range(100) if k != index]
    near = [
        g[k] for k in range(100) if k != index and index / 1.25 <= k <= 1.25 * index
    ]
    assert found.score == pytest.approx(g[index] / np.median(others))
    assert found.num_neighbors == len(near)
    assert found.rank == sorted([*near, g[index]], reverse=True).index(g[index]) + 1
    if near:
        assert found.exceeded_by == pytest.approx((found.rank - 1) / len(near))
        assert found.neighbor_score == pytest.approx(g[index] / np.median(near))
    else:
        assert np.isnan(found.exceeded_by) and np.isnan(found.neighbor_score)


def test_ties_are_no_advantage():
    flat = rotation(np.ones(50), np.ones(50), 20)
    assert flat.score == 1 and flat.rank == 1 and flat.exceeded_by == 1


def test_neighbors_can_be_chosen():
    wide = rotation(np.ones(50), np.ones(50), 20, spread=2.0)
    assert wide.num_neighbors == 30  # 10..40 without 20


def test_a_network_that_did_not_move_did_not_turn():
    params, x, full = network()
    spectrum = tl.spectrum(mean_kernel(full))
    still = rotation_of(dense_apply, params, x, spectrum, 4)
    np.testing.assert_allclose(still.gains, 1, rtol=1e-8)
    moved = jax.tree.map(lambda a: 1.1 * a, params)
    K = np.asarray(tl.gram(dense_apply, moved, x))
    V = spectrum.eigenvectors
    expected = np.einsum("nk,nm,mk->k", V, K, V) / spectrum.eigenvalues
    found = rotation_of(dense_apply, moved, x, spectrum, 4)
    np.testing.assert_allclose(found.gains, expected, rtol=1e-8)
    assert found.gains.shape == (N,)


def test_messages(no_type_checks):
    two = np.ones(2)
    with pytest.raises(ValueError, match=r"got shapes \(2,\) and \(3,\)"):
        rotation(two, np.ones(3), 0)
    with pytest.raises(ValueError, match="two or more modes"):
        rotation(np.ones(1), np.ones(1), 0)
    with pytest.raises(ValueError, match=r"`index` must lie in 0\.\.1, got 2"):
        rotation(two, two, 2)
    with pytest.raises(ValueError, match="Mode 1 has no energy before"):
        rotation(two, np.array([1.0, 0.0]), 0)
    with pytest.raises(ValueError, match="`spread` must be above 1"):
        rotation(two, two, 0, spread=1.0)
