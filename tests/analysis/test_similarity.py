"""Distances and alignments between kernels are their dense formulas, and invariant."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.analysis import (
    centered_alignment,
    cka,
    kernel_distance,
    kernel_size,
    kernel_velocity,
    strips,
)
from tangentlab.spectra import summary

from .problems import N, on_disk, positive, vectors

H = np.eye(N) - 1 / N


def cosine(K, L):
    return (K * L).sum() / np.sqrt((K**2).sum() * (L**2).sum())


@pytest.mark.parametrize("seed", range(3))
def test_dense_formulas(seed):
    K, L, y = positive(seed), positive(seed + 10), vectors(seed, N, 2)
    Kc, Lc = H @ K @ H, H @ L @ H
    assert kernel_distance(K, L) == pytest.approx(1 - cosine(K, L), rel=1e-10)
    assert cka(K, L) == pytest.approx(cosine(Kc, Lc), rel=1e-10)
    expected = [(v @ Kc @ v) / (np.linalg.norm(Kc) * (v @ v)) for v in y.T]
    np.testing.assert_allclose(centered_alignment(K, y), expected, rtol=1e-10)
    single = centered_alignment(K, y[:, 0])
    assert single.shape == () and single == pytest.approx(expected[0], rel=1e-12)
    size, mu = kernel_size(K), np.linalg.eigvalsh(K)
    assert size.trace == pytest.approx(mu.sum(), rel=1e-10)
    assert size.frobenius == pytest.approx(np.sqrt((mu**2).sum()), rel=1e-10)
    ratio = mu.sum() ** 2 / (mu**2).sum()
    assert size.participation_ratio == pytest.approx(ratio, rel=1e-10)
    found = summary(tl.spectrum(K)).participation_ratio
    assert size.participation_ratio == pytest.approx(found, rel=1e-10)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**16), scale=st.floats(1e-3, 1e3), shift=st.floats(-10, 10))
def test_invariances(seed, scale, shift):
    K, L, y = positive(seed), positive(seed + 1), vectors(seed, N)
    rng = np.random.default_rng(seed)
    order = rng.permutation(N)
    turn, _ = np.linalg.qr(rng.normal(size=(N, N)))
    distance, similar = kernel_distance(K, L), cka(K, L)
    assert -1e-15 <= distance <= 1 and 0 <= similar <= 1 + 1e-12
    for A, B in (
        (scale * K, L),
        (L, K),
        (K[order][:, order], L[order][:, order]),
        (turn @ K @ turn.T, turn @ L @ turn.T),
    ):
        assert kernel_distance(A, B) == pytest.approx(distance, rel=1e-8)
    for A, B in (
        (scale * K, L),
        (L, K),
        (K + shift, L),  # a constant has no place in a centered kernel
        (K[order][:, order], L[order][:, order]),
    ):
        assert cka(A, B) == pytest.approx(similar, rel=1e-8)
    aligned = centered_alignment(K, y)
    assert centered_alignment(scale * K + shift, -scale * y) == pytest.approx(
        aligned, rel=1e-8
    )
    assert centered_alignment(K[order][:, order], y[order]) == pytest.approx(
        aligned, rel=1e-8
    )


def test_labels_align_with_their_own_kernel():
    y = np.array([1.0, -1.0] * 5)
    assert centered_alignment(np.outer(y, y), y) == pytest.approx(1)
    assert centered_alignment(np.outer(y, y) + 7, y) == pytest.approx(1)
    assert cka(np.outer(y, y), 3 * np.outer(y, y) + 1) == pytest.approx(1)


def test_a_distance_far_below_the_rounding_of_a_cosine():
    K = positive(0)
    A = vectors(1, N, N)
    A = A + A.T
    A -= K * (A * K).sum() / (K * K).sum()  # at a right angle to K
    moved = K + 1e-10 * np.linalg.norm(K) * A / np.linalg.norm(A)
    assert kernel_distance(K, moved) == pytest.approx(0.5e-20, rel=1e-4)
    assert kernel_distance(K, 3 * K) < 1e-30


def test_velocity_is_distance_over_time():
    kernels = [positive(seed) for seed in range(3)]
    found = kernel_velocity(kernels, [0, 2, 6])
    pairs = zip(kernels[:2], kernels[1:], (2, 4), strict=True)
    expected = [kernel_distance(K, L) / time for K, L, time in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("tiled_rows", [3, 2048])
def test_strips_and_gram_matrices_on_disk(tmp_path, monkeypatch, tiled_rows):
    K, L = (positive(seed).astype(np.float32) for seed in (0, 1))
    y = vectors(0, N)
    monkeypatch.setattr(strips, "_STRIP", 2 * N)
    monkeypatch.setattr(strips, "_TILED_ROWS", tiled_rows)
    tiled = on_disk(tmp_path, K)
    wide = K.astype(float), L.astype(float)
    distance = 1 - cosine(*wide)
    for A, B in ((tiled, L), (L, tiled), (jnp.asarray(K), L), (K, L)):
        assert kernel_distance(A, B) == pytest.approx(distance, rel=1e-10)
        similar = cosine(*(H @ M @ H for M in wide))
        assert cka(A, B) == pytest.approx(similar, rel=1e-10)
    assert kernel_size(tiled).trace == pytest.approx(np.trace(wide[0]), rel=1e-12)
    assert centered_alignment(tiled, y) == pytest.approx(
        float(centered_alignment(wide[0], y)), rel=1e-10
    )


def test_strips_that_are_widened_on_a_device(tmp_path, monkeypatch):
    """Here the device is the CPU; the way is that of an accelerator."""
    K, L = (positive(seed).astype(np.float32) for seed in (0, 1))
    monkeypatch.setattr(strips, "_DEVICE_STRIP", 2 * N)
    monkeypatch.setattr(strips, "is_on_accelerator", lambda K: isinstance(K, jax.Array))
    there = jnp.asarray(K)
    for other in (jnp.asarray(L), L, on_disk(tmp_path, L)):
        for function in (kernel_distance, cka):
            assert function(there, other) == pytest.approx(
                float(function(K, L)), rel=1e-12
            )
    size = kernel_size(there).frobenius
    assert size == pytest.approx(np.linalg.norm(K.astype(float)), rel=1e-12)


def test_under_jit():
    K, L, y = (jnp.asarray(a) for a in (positive(0), positive(1), vectors(0, N)))
    for function, *arguments in (
        (kernel_distance, K, L),
        (cka, K, L),
        (centered_alignment, K, y),
        (lambda K: kernel_size(K).participation_ratio, K),
    ):
        np.testing.assert_allclose(
            jax.jit(function)(*arguments), function(*arguments), rtol=1e-10
        )


def test_a_kernel_of_zeros_is_nan_not_zero():
    zero, y = np.zeros((3, 3)), np.ones(3)
    assert np.isnan(kernel_distance(zero, np.eye(3)))
    assert np.isnan(cka(zero, np.eye(3)))
    assert np.isnan(centered_alignment(zero, y))
    assert np.isnan(kernel_size(zero).participation_ratio)


def test_messages(no_type_checks):
    for function in (kernel_distance, cka):
        with pytest.raises(ValueError, match="same n samples"):
            function(np.eye(3), np.eye(4))
        with pytest.raises(ValueError, match="square Gram matrix"):
            function(np.ones((3, 2)), np.eye(3))
    with pytest.raises(ValueError, match="same n samples"):
        centered_alignment(np.eye(3), np.ones(4))
    with pytest.raises(ValueError, match="labels 0 and 1 become"):
        centered_alignment(np.eye(3), np.ones(3, int))
    with pytest.raises(ValueError, match="at least two kernels"):
        kernel_velocity([np.eye(2)], [0])
    with pytest.raises(ValueError, match="`steps` of shape"):
        kernel_velocity([np.eye(2), np.eye(2)], [0])
    with pytest.raises(ValueError, match="must increase"):
        kernel_velocity([np.eye(2), np.eye(2)], [1, 1])


def test_nested_lists_are_matrices(no_type_checks):
    K: Any = [[2.0, 0.0], [0.0, 1.0]]
    L: Any = [[1.0, 0.0], [0.0, 3.0]]
    y: Any = [1.0, -1.0]
    by_name: Any = {"w": np.eye(2)}
    for function in (tl.kernel_distance, tl.analysis.cka):
        assert function(K, L) == function(np.array(K), np.array(L))
    expected = tl.analysis.centered_alignment(np.array(K), np.array(y))
    assert tl.analysis.centered_alignment(K, y) == expected
    with pytest.raises(ValueError, match="`K` must be a square Gram matrix"):
        tl.kernel_distance(by_name, np.eye(2))
