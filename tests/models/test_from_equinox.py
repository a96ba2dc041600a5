from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models
from tests.helpers import assert_close, jacobian_gram

from .draws import normal, random_params


class TwoLayers(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear
    dropout: eqx.nn.Dropout
    order: jax.Array

    def __init__(self, key):
        keys = jax.random.split(key)
        self.first = eqx.nn.Linear(3, 4, key=keys[0])
        self.second = eqx.nn.Linear(4, 2, key=keys[1])
        self.dropout = eqx.nn.Dropout(0.5)
        self.order = jnp.array([2, 0, 1])

    def __call__(self, x):
        return self.second(self.dropout(jnp.tanh(self.first(x[self.order]))))


class Normed(eqx.Module):
    norm: eqx.nn.BatchNorm
    dropout: eqx.nn.Dropout
    dense: eqx.nn.Linear

    def __init__(self, key, mode: Literal["batch", "ema"] = "batch"):
        self.norm = eqx.nn.BatchNorm(3, axis_name="batch", momentum=0.9, mode=mode)
        self.dropout = eqx.nn.Dropout(0.5)
        self.dense = eqx.nn.Linear(3, 1, key=key)

    def __call__(self, x, state):
        x, state = self.norm(x, state)
        return self.dense(self.dropout(x)), state


def two_layers(params, x):
    x = jnp.stack([x[:, 2], x[:, 0], x[:, 1]], axis=1)
    hidden = jnp.tanh(x @ params.first.weight.T + params.first.bias[None])
    return hidden @ params.second.weight.T + params.second.bias[None]


def normed(params, x, mean, var):
    x = (x - mean) / jnp.sqrt(var + 1e-5)
    x = x * params.norm.weight[None] + params.norm.bias[None]
    return x @ params.dense.weight.T + params.dense.bias[None]


def test_kernel_is_that_of_the_hand_written_network():
    model = models.from_equinox(TwoLayers)
    params, x = random_params(model), normal((5, 3))
    assert_close(model.apply(params, x), two_layers(params, x))
    expected = jacobian_gram(two_layers, params, x)
    assert_close(jacobian_gram(model.apply, params, x), expected)
    outputs, state = jax.jit(model.apply_train)(params, {}, x)
    assert_close(outputs, two_layers(params, x))  # dropout is off
    assert state == {}


def test_a_module_that_takes_batches_is_not_vectorized(getkey):
    class Batched(eqx.Module):
        weight: jax.Array

        def __call__(self, x):
            return x @ self.weight

    module = Batched(normal((3, 2)))
    model = models.from_equinox(module, batched=True)
    x = normal((5, 3))
    assert_close(model.apply(model.init(getkey()), x), x @ module.weight)


def test_a_builder_draws_new_parameters_for_each_key(getkey):
    model, key = models.from_equinox(TwoLayers), getkey()
    expected = TwoLayers(key).first.weight
    assert np.array_equal(model.init(key).first.weight, expected)
    assert np.any(model.init(getkey()).first.weight != expected)
    assert model.init(key).order is None


def test_a_built_module_keeps_its_parameters(getkey):
    module = TwoLayers(getkey())
    params = models.from_equinox(module).init(getkey())
    assert np.array_equal(params.second.weight, module.second.weight)


def test_builds_may_differ_in_static_fields(getkey):
    class Labeled(eqx.Module):
        dense: eqx.nn.Linear
        label: object = eqx.field(static=True)

        def __call__(self, x):
            return self.dense(x)

    def build(key):
        return Labeled(eqx.nn.Linear(3, 1, key=key), object())

    model, x = models.from_equinox(build), normal((4, 3))
    assert model.apply(model.init(getkey()), x).shape == (4, 1)


def test_batch_statistics_train_and_freeze():
    build = eqx.nn.make_with_state(Normed)
    model = models.from_equinox(build)
    params, x = random_params(model), normal((6, 3))
    mean, var = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    with jax.numpy_dtype_promotion("standard"):  # equinox raises a float to an integer
        assert_close(model.apply(params, x), normed(params, x, 0, 1))
        outputs, state = model.apply_train(params, model.init_state(), x)
        frozen = model.freeze(state)(params, x)
        network = eqx.combine(params, build(jax.random.key(0))[0])
        infer = jax.vmap(eqx.nn.inference_mode(network), (0, None), axis_name="batch")
        expected, _ = infer(x, state)
    assert_close(outputs, normed(params, x, mean, var))  # dropout is off
    assert_close(frozen, expected)
    assert not np.allclose(frozen, outputs)


def test_running_variance_starts_at_one_where_equinox_leaves_zero():
    build = eqx.nn.make_with_state(Normed)
    module_and_state = build(jax.random.key(0), mode="ema")
    model = models.from_equinox(module_and_state)
    params, x = random_params(model), normal((6, 3))
    mean, var = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    assert_close(model.apply(params, x), normed(params, x, 0, 1))
    outputs, state = model.apply_train(params, model.init_state(), x)
    assert_close(outputs, normed(params, x, mean, var))
    assert_close(model.freeze(state)(params, x), normed(params, x, mean, var))
    # Neither what the user passed nor the initial state is used up.
    module, state = module_and_state
    index = module.norm.ema_state_index
    assert index is not None and np.all(state.get(index)[1] == 0)
    assert_close(model.apply(params, x), normed(params, x, 0, 1))


def test_statistics_keep_their_dtype_under_wider_parameters():
    build = eqx.nn.make_with_state(Normed)
    single = jax.tree.map(
        lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf,
        build(jax.random.key(0), mode="ema"),
    )
    model = models.from_equinox(single)
    params, x = random_params(model), normal((6, 3))
    _, state = model.apply_train(params, model.init_state(), x)
    dtypes = {leaf.dtype for leaf in jax.tree.leaves(state)}
    assert dtypes == {jnp.dtype("float32"), jnp.dtype("bool")}


def test_an_output_without_its_axis_is_refused_by_the_contract(getkey):
    model = models.from_equinox(lambda key: eqx.nn.Linear(3, "scalar", key=key))
    with pytest.raises(ValueError, match="add an output axis"):
        models.check_apply(model.apply, model.init(getkey()), normal((4, 3)))
