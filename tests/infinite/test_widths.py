"""Finite tangent kernels reach the infinite one like the root of the width."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import infinite as inf


def test_errors_fall_like_the_root_of_the_width():
    x = np.random.default_rng(0).normal(size=(4, 6))
    found = tl.compare_widths(
        lambda width: inf.fc(1, width),
        x,
        (16, 256),
        key=jax.random.key(0),
        num_draws=6,
    )
    assert found.errors.shape == (2, 6)
    assert found.slope_interval[0] < -0.5 < found.slope_interval[1]
    assert found.slope_interval[1] < -0.2
    assert found.errors[1].mean() < 0.2
    assert (found.mean_errors < found.errors.mean(1)).all()


def test_too_little_to_fit_is_refused():
    with pytest.raises(ValueError, match="two different `widths` and two draws"):
        tl.compare_widths(
            lambda width: inf.fc(1, width),
            np.ones((2, 3)),
            (16, 16),
            key=jax.random.key(0),
        )
