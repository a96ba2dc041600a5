"""Where the axis of tasks stands while an epoch runs."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import tangentlab as tl
from tangentlab.training.carrying import task_axes
from tangentlab.training.trainer import make_trainer

KEY = jax.random.key(0)
X = jax.random.normal(KEY, (8, 4, 4, 1), jnp.float32)


def _axes(model, optimizer: Any = "sgd"):
    recipe = tl.Recipe(epochs=1, batch_size=4, optimizer=optimizer)
    trainer = make_trainer(lambda start: model, recipe, recipe.make_optimizer(8))
    start, y = model.init(KEY), jnp.zeros((3, 8), jnp.float32)
    learner = jax.vmap(trainer.begin, (None, 0))(start, y[:, 0])
    with jax.numpy_dtype_promotion("standard"):  # optax mixes single and double
        return task_axes(trainer.step, learner, start, X, y[0], jnp.arange(4))


def test_weights_that_multiply_samples_have_it_second():
    axes = _axes(tl.models.mlp((4, 4, 1), widths=(5, 6)))
    assert axes.params["Dense_0"] == {"bias": 0, "kernel": 1}
    assert axes.params["Dense_1"] == {"bias": 0, "kernel": 0}
    assert axes.params["Dense_2"] == {"bias": 0, "kernel": 0}


@pytest.mark.parametrize("optimizer, moved", [("sgd", 2), ("adam", 3)])
def test_momenta_go_with_their_weights(optimizer, moved):
    axes = _axes(tl.models.mlp((4, 4, 1), widths=(5, 6)), optimizer)
    assert sum(jax.tree.leaves(axes)) == moved


def test_weights_behind_a_layer_have_it_first():
    axes = _axes(tl.models.lenet((4, 4, 1), widths=(2, 3, 4, 5)))
    assert sum(jax.tree.leaves(axes)) == 0


def test_weights_that_are_summed_over_their_last_axis_have_it_first():
    def init(key):
        w = jax.random.normal(key, (5, 16), jnp.float32)
        return {"w": w, "v": jnp.ones((5, 1), jnp.float32)}

    def apply(params, x):
        return jnp.tanh(x.reshape(len(x), -1) @ params["w"].T) @ params["v"]

    axes = _axes(tl.models.from_function(init, apply))
    assert axes.params == {"w": 0, "v": 0}
