"""How far parameters turned, where the difference of cosines has no digits left."""

import jax.numpy as jnp
import numpy as np

from tangentlab.training.distances import distances


def test_a_tiny_turn_keeps_its_digits():
    start, turn = np.array([3.0, 4.0]), 1e-7 * np.array([-4.0, 3.0])
    moved, cosine = distances(jnp.asarray(start + turn), jnp.asarray(start))
    np.testing.assert_allclose(moved, 5e-7, rtol=1e-8)
    np.testing.assert_allclose(cosine, 1e-14 / 2, rtol=1e-6)


def test_half_precision_is_measured_in_single():
    start = jnp.full(3000, 0.5, jnp.bfloat16)
    moved, cosine = distances(start * 3, start)
    assert moved.dtype == jnp.float32
    np.testing.assert_allclose(moved, 3000**0.5, rtol=1e-5)
    np.testing.assert_allclose(cosine, 0, atol=1e-6)


def test_nothing_turns_away_from_zero():
    """Rounding must not make an infinity of it."""
    end = jnp.asarray(np.random.default_rng(0).standard_normal(50), jnp.float32)
    moved, cosine = distances(end, jnp.zeros(50, jnp.float32))
    assert moved > 0 and np.isnan(cosine)
