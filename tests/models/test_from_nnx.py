import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from tangentlab import models
from tests.helpers import assert_close, jacobian_gram

from .draws import normal, random_params


class TwoLayers(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List(
            [nnx.Linear(3, 4, rngs=rngs), nnx.Linear(4, 2, rngs=rngs)]
        )
        self.order = nnx.Variable(jnp.array([2, 0, 1]))
        self.step = jnp.array(3)

    def __call__(self, x):
        first, second = self.layers
        return second(jnp.tanh(first(x[:, self.order[...]])))


class Normed(nnx.Module):
    def __init__(self, rngs):
        self.norm = nnx.BatchNorm(3, momentum=0.9, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.dense = nnx.Linear(3, 1, rngs=rngs)

    def __call__(self, x):
        return self.dense(self.dropout(self.norm(x)))


def two_layers(params, x):
    first, second = params["layers"][0], params["layers"][1]
    x = jnp.stack([x[:, 2], x[:, 0], x[:, 1]], axis=1)
    hidden = jnp.tanh(x @ first["kernel"] + first["bias"][None])
    return hidden @ second["kernel"] + second["bias"][None]


def test_kernel_is_that_of_the_hand_written_network():
    model = models.from_nnx(TwoLayers)
    params, x = random_params(model), normal((5, 3))
    assert_close(model.apply(params, x), two_layers(params, x))
    expected = jacobian_gram(two_layers, params, x)
    assert_close(jacobian_gram(model.apply, params, x), expected)
    assert_close(jax.jit(model.apply)(params, x), two_layers(params, x))


def test_a_builder_draws_new_parameters_for_each_key(getkey):
    model, key = models.from_nnx(TwoLayers), getkey()
    expected = TwoLayers(nnx.Rngs(key)).layers[0].kernel[...]
    assert np.array_equal(model.init(key)["layers"][0]["kernel"], expected)
    assert np.any(model.init(getkey())["layers"][0]["kernel"] != expected)


def test_a_built_module_keeps_its_parameters(getkey):
    module = TwoLayers(nnx.Rngs(3))
    params = models.from_nnx(module).init(getkey())
    assert np.array_equal(params["layers"][1]["kernel"], module.layers[1].kernel[...])


def test_batch_statistics_train_and_freeze_without_changing_the_module():
    module = Normed(nnx.Rngs(0))
    model = models.from_nnx(module)
    params, x = random_params(model, jnp.float32), normal((6, 3), jnp.float32)
    dense, norm = params["dense"], params["norm"]

    def plain(x, mean, var):
        x = (x - mean) / jnp.sqrt(var + 1e-5) * norm["scale"][None] + norm["bias"][None]
        return x @ dense["kernel"] + dense["bias"][None]

    mean, var = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    outputs, state = model.apply_train(params, model.init_state(), x)
    assert_close(outputs, plain(x, mean, var))  # dropout is off
    assert_close(state["norm"]["mean"], 0.1 * mean[0])
    assert_close(state["norm"]["var"], 0.9 + 0.1 * var[0])
    assert_close(model.apply(params, x), plain(x, 0, 1))
    running = plain(x, state["norm"]["mean"][None], state["norm"]["var"][None])
    assert_close(model.freeze(state)(params, x), running)
    # The module itself still trains, with the statistics it had.
    assert module.norm.use_running_average is False
    assert module.dropout.deterministic is False
    assert np.all(module.norm.mean[...] == 0) and np.all(module.norm.var[...] == 1)


def test_statistics_can_be_carried_by_scan():
    model = models.from_nnx(Normed)
    params, batches = random_params(model, jnp.float32), normal((4, 5, 3), jnp.float32)

    def step(state, x):
        outputs, state = model.apply_train(params, state, x)
        return state, outputs

    state, _ = jax.lax.scan(step, model.init_state(), batches)
    expected = model.init_state()
    for x in batches:
        _, expected = model.apply_train(params, expected, x)
    assert_close(state["norm"]["var"], expected["norm"]["var"])


def test_an_output_without_its_axis_is_refused_by_the_contract():
    class Flat(nnx.Module):
        def __init__(self, rngs):
            self.dense = nnx.Linear(3, 1, rngs=rngs)

        def __call__(self, x):
            return self.dense(x)[:, 0]

    model = models.from_nnx(Flat)
    with pytest.raises(ValueError, match="add an output axis"):
        models.check_apply(model.apply, random_params(model), normal((4, 3)))
