"""Arrays that JAX takes over, and those it is handed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.kernels import host

_RNG = np.random.default_rng(0)


def _shifted(x, by):
    """The same numbers, so many bytes after where JAX would take them over."""
    raw = np.zeros(x.nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 64 + by
    moved = raw[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, jnp.bfloat16])
@pytest.mark.parametrize("by", [0, 16])
def test_an_array_is_handed_over_with_its_numbers(by, dtype):
    x = _shifted(_RNG.integers(0, 100, (5, 7, 3)).astype(dtype), by)
    given = host.handed_over(x)
    assert isinstance(given, jax.Array) and given.dtype == dtype
    np.testing.assert_array_equal(np.asarray(given), x)


@pytest.mark.parametrize("cut", [np.s_[1:4], np.s_[::2, 1:], np.s_[::-1], np.s_[:0]])
def test_any_part_of_an_array_is(cut):
    x = _RNG.standard_normal((6, 5)).astype(np.float32)[cut]
    np.testing.assert_array_equal(np.asarray(host.handed_over(x)), x)


def test_a_copy_does_not_follow_the_original():
    x = _shifted(_RNG.standard_normal(100).astype(np.float32), 16)
    given, before = host.handed_over(x), x.copy()
    x[...] = 0
    np.testing.assert_array_equal(np.asarray(given), before)


def test_zeros_are_taken_over_without_a_copy():
    K = host.zeros((30, 40), np.float32)
    assert not K.any() and K.shape == (30, 40)
    assert jax.device_put(K).unsafe_buffer_pointer() == K.ctypes.data
