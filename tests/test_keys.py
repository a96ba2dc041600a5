"""Random keys, new style and old."""

from typing import Any

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab._keys import as_key, as_keys

KEY = jax.random.key(0)


def test_an_old_key_is_the_same_key():
    assert as_key(jax.random.PRNGKey(3)) == as_key(jax.random.key(3))
    old = jax.numpy.stack([jax.random.PRNGKey(0), jax.random.PRNGKey(1)])
    assert (as_keys(old) == jax.vmap(jax.random.key)(np.arange(2))).all()


def test_an_old_key_may_come_from_a_file():
    key: Any = np.asarray(jax.random.PRNGKey(3))
    assert as_key(key) == jax.random.key(3)
    model = tl.models.mlp((3,))
    drawn = [model.init(each) for each in (key, jax.random.key(3))]
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), *drawn))


def test_keys_of_another_generator():
    with jax.default_prng_impl("rbg"):
        assert as_key(jax.random.PRNGKey(3)) == jax.random.key(3)
        with pytest.raises(ValueError, match=r"got uint32 of shape \(2,\)"):
            as_key(np.zeros(2, np.uint32))


@pytest.mark.parametrize(
    ("key", "got"),
    [
        (0, "got int"),
        (jax.random.split(KEY), r"got key<fry> of shape \(2,\)"),
        (np.zeros(3, np.uint32), r"got uint32 of shape \(3,\)"),
        (np.zeros(2), r"got float64 of shape \(2,\)"),
    ],
)
def test_something_else_than_a_key_is_refused(key, got, no_type_checks):
    with pytest.raises(ValueError, match=f"must be one random key, {got}.*random.key"):
        as_key(key)


def _linear(w, x):
    return x @ w


DATA = tl.data.Dataset(np.eye(4), np.array([0, 1, 0, 1]), ("a", "b"), num_train=3)
DRAWN = {
    "subset": lambda key: tl.data.subset(DATA, 2, key=key),
    "search": lambda key: tl.theory.search_gap(
        _linear, np.ones((2, 1)), np.eye(2), 1.0, key=key, num_starts=1, num_steps=1
    ),
    "complexity": lambda key: tl.theory.rademacher_complexity(np.eye(2), 1.0, key=key),
    "probes": lambda key: tl.analysis.probe_kernel(lambda V: V, 9, 9, key=key),
    "distance": lambda key: tl.analysis.probe_distance(
        lambda V: V, lambda V: 2 * V, 9, 9, key=key
    ),
    "finite": lambda key: tl.infinite.monte_carlo(
        tl.infinite.fc(1, 4), np.eye(2), key=key, num_draws=2
    ),
    "network": lambda key: tl.models.mlp((2,)).init(key),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_seed_is_no_key(draw, no_type_checks):
    with pytest.raises(ValueError, match="`key` must be one random key, got int"):
        draw(0)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_old_keys_draw_the_same(draw):
    new, old = (jax.tree.leaves(draw(key)) for key in (KEY, jax.random.PRNGKey(0)))
    jax.tree.map(np.testing.assert_array_equal, new, old)
