import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl

N, NUM_TRAIN = 5000, 4000
HOWS = st.sampled_from(["redraw", "flip"])
FRACTIONS = st.floats(0, 1)


def _task(balance=0.3):
    y = (np.arange(N) % 1000 < 1000 * balance).astype(np.float32)
    return tl.Task(np.zeros((N, 1)), y, NUM_TRAIN, name="points", index=2)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), fraction=FRACTIONS, balance=FRACTIONS, how=HOWS)
def test_share_of_wrong_labels_and_balance_are_as_promised(
    seed, fraction, balance, how
):
    task = _task(balance)
    noisy = tl.tasks.with_label_noise(
        task, fraction, key=jax.random.key(seed), how=how, split="both"
    )
    wrong = fraction if how == "flip" else fraction / 2
    deviation = np.sqrt(0.25 / N)
    assert abs(np.mean(noisy.y != task.y) - wrong) <= 6 * deviation
    kept = task.balance * (1 - wrong) + (1 - task.balance) * wrong
    assert abs(noisy.balance - kept) <= 6 * deviation


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), fraction=FRACTIONS, how=HOWS)
def test_the_test_split_stays_unless_asked(seed, fraction, how):
    task, key = _task(), jax.random.key(seed)
    train = tl.tasks.with_label_noise(task, fraction, key=key, how=how)
    both = tl.tasks.with_label_noise(task, fraction, key=key, how=how, split="both")
    np.testing.assert_array_equal(train.y[NUM_TRAIN:], task.y[NUM_TRAIN:])
    np.testing.assert_array_equal(train.y[:NUM_TRAIN], both.y[:NUM_TRAIN])
    assert train.x is task.x and train.y.dtype == task.y.dtype


def test_the_test_split_is_corrupted_when_asked():
    task = _task()
    both = tl.tasks.with_label_noise(
        task, 1.0, key=jax.random.key(0), how="flip", split="both"
    )
    np.testing.assert_array_equal(both.y, 1 - task.y)


@pytest.mark.parametrize("how", ["redraw", "flip"])
def test_no_noise_changes_nothing(how):
    task = _task()
    same = tl.tasks.with_label_noise(task, 0.0, key=jax.random.key(0), how=how)
    np.testing.assert_array_equal(same.y, task.y)


def test_flipping_all_turns_every_training_label_and_redrawing_all_forgets_them():
    task, key = _task(), jax.random.key(0)
    flipped = tl.tasks.with_label_noise(task, 1.0, key=key, how="flip")
    np.testing.assert_array_equal(flipped.y[:NUM_TRAIN], 1 - task.y[:NUM_TRAIN])
    redrawn = tl.tasks.with_label_noise(task, 1.0, key=key)
    others = tl.tasks.with_label_noise(flipped, 1.0, key=key)
    np.testing.assert_array_equal(redrawn.y[:NUM_TRAIN], others.y[:NUM_TRAIN])


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), pair=st.tuples(FRACTIONS, FRACTIONS), how=HOWS)
def test_more_noise_keeps_the_wrong_labels_of_less(seed, pair, how):
    task, key = _task(), jax.random.key(seed)
    less, more = (
        np.asarray(tl.tasks.with_label_noise(task, p, key=key, how=how).y) != task.y
        for p in sorted(pair)
    )
    assert not (less & ~more).any()


def test_keys_decide_and_the_name_tells():
    task = _task()
    one, same, other = (
        tl.tasks.with_label_noise(task, 0.25, key=jax.random.key(s)) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.y, same.y)
    assert (one.y != other.y).any()
    assert one.name == "points, 25 % of labels redrawn" and one.index == 2
    both = tl.tasks.with_label_noise(
        task, 0.001, key=jax.random.key(0), how="flip", split="both"
    )
    assert both.name == "points, 0.1 % of labels flipped in both splits"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 1.01}, r"`fraction` must lie in 0\.\.1, got 1.01"),
        ({"fraction": 30.0}, r"`fraction` must lie in 0\.\.1, got 30"),
        ({"fraction": float("nan")}, r"0\.\.1, got nan"),
        ({"how": "swap"}, "Unknown kind of label noise 'swap'. Known: flip, redraw"),
        ({"split": "test"}, "Unknown split for label noise 'test'. Known: both, train"),
    ],
)
def test_bad_options_raise(options, message, no_type_checks):
    arguments = {"fraction": 0.5, "key": jax.random.key(0)} | options
    with pytest.raises(ValueError, match=message):
        tl.tasks.with_label_noise(_task(), **arguments)


def test_real_valued_targets_raise():
    task = tl.Task(np.zeros((3, 1)), np.array([0.5, 1, 2]), 2, kind="regression")
    with pytest.raises(ValueError, match="for binary labels, this is a regression"):
        tl.tasks.with_label_noise(task, 0.5, key=jax.random.key(0))
