"""Principal angles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab.analysis import principal_angles, subspace_overlap

from .problems import vectors


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**16), k=st.integers(1, 3), m=st.integers(1, 4))
def test_angles_depend_on_the_spans_alone(seed, k, m):
    U, V = vectors(seed, 8, k), vectors(seed + 1, 8, m)
    turn = np.linalg.qr(vectors(seed + 2, 8, 8))[0]
    angles, overlap = principal_angles(U, V), subspace_overlap(U, V)
    assert angles.shape == (min(k, m),) and (np.diff(angles) >= 0).all()
    assert overlap == pytest.approx((np.cos(angles) ** 2).mean(), rel=1e-9)
    P, Q = (np.linalg.qr(A)[0] for A in (U, V))
    expected = np.trace(P @ P.T @ Q @ Q.T) / min(k, m)
    assert overlap == pytest.approx(expected, rel=1e-9)
    mixed = U @ (vectors(seed + 3, k, k) + 5 * np.eye(k)), 7 * V[:, ::-1]
    for A, B in (mixed, (V, U), (turn @ U, turn @ V)):
        np.testing.assert_allclose(principal_angles(A, B), angles, atol=1e-7)
        assert subspace_overlap(A, B) == pytest.approx(overlap, rel=1e-7)


def test_known_angles_small_ones_too():
    axes = np.eye(5)
    tilted = np.stack([axes[0], axes[1] + 1e-12 * axes[2], axes[3] + axes[4]], 1)
    angles = principal_angles(axes[:, [0, 1, 3]], tilted)
    np.testing.assert_allclose(angles, [0, 1e-12, np.pi / 4], atol=1e-15)
    assert subspace_overlap(axes[:, :2], axes[:, 3:]) == 0
    assert subspace_overlap(axes[:, :1], axes[:, :3]) == 1


def test_random_subspaces_overlap_by_their_dimension():
    drawn = [
        subspace_overlap(vectors(i, 40, 4), vectors(1000 + i, 40, 4))
        for i in range(300)
    ]
    assert abs(np.mean(drawn) - 4 / 40) < 4 * np.std(drawn) / 300**0.5


def test_messages(no_type_checks):
    with pytest.raises(ValueError, match="same n samples"):
        principal_angles(np.eye(3), np.eye(4))
    with pytest.raises(ValueError, match="span only 1 dimensions"):
        subspace_overlap(np.eye(3), np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"\(n, k\), got shape \(3,\)"):
        subspace_overlap(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="NaN or infinite"):
        subspace_overlap(np.full((3, 1), np.nan), np.eye(3))
