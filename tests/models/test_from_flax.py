from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models
from tests.helpers import assert_close, jacobian_gram

from .draws import normal, random_params


class TwoLayers(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, name="second")(jnp.tanh(nn.Dense(4, name="first")(x)))


class Normed(nn.Module):
    """Batch norm and dropout behind one flag, as is common."""

    @nn.compact
    def __call__(self, x, train=True):
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(1)(x)


class Counting(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.variable("counters", "calls", lambda: jnp.zeros(()))
        return nn.Dense(1)(x)


class Tokens(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.Embed(10, 3)(x).mean(axis=1))


MODES: dict[str, Any] = {
    "eval_kwargs": {"train": False},
    "train_kwargs": {"train": True},
}


def two_layers(params, x):
    first, second = params["first"], params["second"]
    hidden = jnp.tanh(x @ first["kernel"] + first["bias"][None])
    return hidden @ second["kernel"] + second["bias"][None]


def test_kernel_is_that_of_the_hand_written_network():
    model = models.from_flax(TwoLayers(), (3,), name="two layers")
    params, x = random_params(model), normal((5, 3))
    assert_close(model.apply(params, x), two_layers(params, x))
    expected = jacobian_gram(two_layers, params, x)
    assert_close(jacobian_gram(model.apply, params, x), expected)
    assert model.name == "two layers" and model.init_state() == {}


def test_initialization_is_that_of_the_module(getkey):
    key = getkey()
    params = models.from_flax(TwoLayers(), (3,)).init(key)
    expected = TwoLayers().init(key, jnp.zeros((1, 3), jnp.float32))["params"]
    assert jax.tree.all(jax.tree.map(np.allclose, params, expected))


def test_initialization_works_inside_other_transformations(getkey):
    key = getkey()
    init = models.from_flax(TwoLayers(), (3,)).init
    plain = init(key)
    for params in (jax.jit(init)(key), jax.jit(lambda: init(key))()):
        assert jax.tree.all(jax.tree.map(np.allclose, params, plain))
    many = jax.vmap(init)(jax.random.split(key, 3))
    assert many["first"]["kernel"].shape == (3, 3, 4)


def test_batch_statistics_train_and_freeze():
    model = models.from_flax(Normed(), (3,), **MODES)
    params, x = random_params(model, jnp.float32), normal((6, 3), jnp.float32)
    dense, norm = params["Dense_0"], params["BatchNorm_0"]

    def plain(x, mean, var):
        x = (x - mean) / jnp.sqrt(var + 1e-5) * norm["scale"][None] + norm["bias"][None]
        return x @ dense["kernel"] + dense["bias"][None]

    mean, var = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    outputs, state = model.apply_train(params, model.init_state(), x)
    assert_close(outputs, plain(x, mean, var))  # dropout is off
    running = state["batch_stats"]["BatchNorm_0"]
    assert_close(running["mean"], 0.1 * mean[0])
    assert_close(running["var"], 0.9 + 0.1 * var[0])
    assert_close(model.apply(params, x), plain(x, 0, 1))
    frozen = plain(x, running["mean"][None], running["var"][None])
    assert_close(model.freeze(state)(params, x), frozen)


def test_training_mode_breaks_the_contract_and_freezing_mends_it():
    model = models.from_flax(Normed(), (3,), **MODES)
    params, x = random_params(model, jnp.float32), normal((6, 3), jnp.float32)
    _, state = model.apply_train(params, model.init_state(), x)
    with pytest.raises(ValueError, match=r"mixes examples.*`Model.freeze\(state\)`"):
        models.check_apply(lambda p, x: model.apply_train(p, state, x)[0], params, x)
    models.check_apply(model.freeze(state), params, x)


def test_tokens_are_accepted(getkey):
    model = models.from_flax(Tokens(), (4,), input_dtype=jnp.int32)
    tokens = jnp.arange(8).reshape(2, 4)
    assert model.apply(model.init(getkey()), tokens).shape == (2, 1)


def test_batch_statistics_need_the_arguments_of_training():
    with pytest.raises(ValueError, match="has batch statistics.*pass train_kwargs"):
        models.from_flax(Normed(), (3,), eval_kwargs={"train": False})


def test_evaluation_that_updates_statistics_is_refused():
    model = models.from_flax(Normed(), (3,), train_kwargs={})
    with pytest.raises(
        ValueError, match=r"updates its batch statistics.*eval_kwargs={}"
    ):
        model.apply(random_params(model, jnp.float32), normal((2, 3), jnp.float32))


def test_other_collections_are_refused():
    with pytest.raises(
        ValueError, match="besides `params` and `batch_stats`: counters"
    ):
        models.from_flax(Counting(), (3,))


def test_an_output_without_its_axis_is_refused_by_the_contract():
    class Flat(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(1)(x)[:, 0]

    model = models.from_flax(Flat(), (3,))
    with pytest.raises(ValueError, match="add an output axis"):
        models.check_apply(model.apply, random_params(model), normal((4, 3)))
