"""What draws with a key takes both styles of keys, and says so of anything else."""

import jax
import numpy as np
import pytest

import tangentlab as tl

X, LABELS = np.arange(10.0).reshape(5, 2), np.array([0.0, 1, 1, 0, 1])
TASK = tl.Task(X, LABELS, 3)
DATASET = tl.Dataset(X, np.zeros(5, int), ("only",), 3, name="points")

DRAWING = {
    "direction": lambda key: tl.tasks.direction(np.ones(2), 3, 2, key=key),
    "random_labels": lambda key: tl.tasks.random_labels(DATASET, key=key),
    "with_label_noise": lambda key: tl.tasks.with_label_noise(TASK, 0.5, key=key),
    "shuffled_pixels": lambda key: tl.tasks.shuffled_pixels(TASK, key=key),
    "gaussian_images": lambda key: tl.tasks.gaussian_images(TASK, key=key),
}


@pytest.mark.parametrize("draw", DRAWING.values(), ids=DRAWING)
def test_both_styles_of_a_key_draw_the_same(draw):
    new, old = draw(jax.random.key(3)), draw(jax.random.PRNGKey(3))
    np.testing.assert_array_equal(new.x, old.x)
    np.testing.assert_array_equal(new.y, old.y)


@pytest.mark.parametrize("draw", DRAWING.values(), ids=DRAWING)
def test_a_seed_is_no_key(draw, no_type_checks):
    with pytest.raises(ValueError, match="one random key, got int: pass .*random.key"):
        draw(0)
