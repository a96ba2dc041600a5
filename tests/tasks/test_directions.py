import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl

KEY = jax.random.key(0)


def _unit(shape, seed=0):
    u = np.random.default_rng(seed).normal(size=shape)
    return u / np.linalg.norm(u)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**16),
    epsilon=st.floats(0.1, 3),
    noise=st.floats(0, 3),
    margin=st.sampled_from(["text", "code"]),
)
def test_the_direction_alone_tells_the_label(seed, epsilon, noise, margin):
    u = _unit((4, 4, 1), seed)
    task = tl.tasks.direction(
        u, 40, 20, key=jax.random.key(seed), margin=margin, epsilon=epsilon, noise=noise
    )
    along = np.asarray(task.x, np.float64).reshape(60, -1) @ u.ravel()
    signs = 2 * np.asarray(task.y, np.float64) - 1
    distance = epsilon if margin == "text" else epsilon / 2
    np.testing.assert_allclose(along, signs * distance, atol=2e-6)
    assert task.x.shape == (60, 4, 4, 1) and task.x.dtype == np.float32
    assert task.num_train == 40


def test_noise_is_isotropic_in_all_other_directions():
    u = _unit((6,))
    task = tl.tasks.direction(u, 15_000, 5_000, key=KEY, noise=2.0)
    x = np.asarray(task.x, np.float64)
    w = x - np.outer(x @ u, u)
    wanted = 4.0 * (np.eye(6) - np.outer(u, u))
    assert np.abs(w.T @ w / len(w) - wanted).max() < 6 * 4 * np.sqrt(2 / len(w))
    assert np.abs(w.mean(axis=0)).max() < 6 * 2 / np.sqrt(len(w))


def test_labels_are_a_fair_coin_independent_of_the_noise():
    u = _unit((6,))
    task = tl.tasks.direction(u, 15_000, 5_000, key=KEY)
    assert abs(task.balance - 0.5) < 6 * 0.5 / np.sqrt(20_000)
    x = np.asarray(task.x, np.float64)
    w = x - np.outer(x @ u, u)
    apart = w[np.asarray(task.y) == 1].mean(axis=0) - w[np.asarray(task.y) == 0].mean(0)
    assert np.abs(apart).max() < 6 * 2 / np.sqrt(20_000)


def test_the_code_has_half_the_margin_of_the_text_and_else_the_same_draws():
    u = _unit((5,))
    text = tl.tasks.direction(u, 6, 4, key=KEY)
    code = tl.tasks.direction(u, 6, 4, key=KEY, margin="code")
    half = tl.tasks.direction(u, 6, 4, key=KEY, epsilon=0.5)
    np.testing.assert_array_equal(code.x, half.x)
    np.testing.assert_array_equal(code.y, text.y)
    signs = 2 * np.asarray(text.y, np.float64) - 1
    difference = np.asarray(text.x, np.float64) - np.asarray(code.x, np.float64)
    np.testing.assert_allclose(difference, 0.5 * np.outer(signs, u), atol=1e-6)


def test_only_the_direction_of_u_matters():
    u = _unit((5,)).astype(np.float32)
    one, other = (tl.tasks.direction(c * u, 6, 4, key=KEY) for c in (1, 4))
    np.testing.assert_array_equal(one.x, other.x)


def test_the_paper_s_sizes_are_the_defaults_and_the_index_is_kept():
    task = tl.tasks.direction(_unit((2,)), key=KEY, index=3)
    assert str(task).startswith(
        "Task(direction 3 (the paper's u_4), 20,000 samples, 10,000 train"
    )
    assert task.index == 3
    assert tl.tasks.direction(_unit((2,)), 2, 2, key=KEY).name == "direction"


def test_the_test_split_does_not_depend_on_the_training_split():
    u = _unit((5,))
    small, large = (tl.tasks.direction(u, num, 7, key=KEY) for num in (4, 9))
    np.testing.assert_array_equal(small.x[4:], large.x[9:])
    np.testing.assert_array_equal(small.y[:4], large.y[:4])
    other = tl.tasks.direction(u, 4, 7, key=jax.random.key(1))
    assert (small.x != other.x).all()


@pytest.mark.parametrize(
    ("u", "options", "message"),
    [
        (np.zeros(3), {}, r"other than 0, .* got shape \(3,\) and norm 0"),
        (np.array([1.0, np.nan]), {}, "must be a finite array .* norm nan"),
        (np.array(1.0), {}, r"of the shape of a sample, got shape \(\)"),
        (np.ones(3) * 1j, {}, "`u` must be real-valued, got dtype complex128"),
        (np.ones(3), {"num_test": 0}, "Both splits need samples, .* num_test = 0"),
        (np.ones(3), {"num_train": 20.5}, r"a whole number .* num_train = 20\.5"),
        (np.ones(3), {"index": 1.5}, r"`index` must be a whole number .* got 1\.5"),
        (np.ones(3), {"epsilon": 0.0}, "`epsilon` must be above 0 .* epsilon = 0"),
        (np.ones(3), {"noise": -1.0}, "`noise` at least 0, .* noise = -1"),
        (np.ones(3), {"noise": float("nan")}, "both finite, got .* noise = nan"),
        (np.ones(3), {"margin": "half"}, "Unknown margin 'half'. Known: code, text"),
    ],
)
def test_what_makes_no_task_raises(u, options, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.tasks.direction(u, key=KEY, **options)
