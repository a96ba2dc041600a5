from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models
from tests.helpers import assert_close, jacobian_gram

from .draws import normal, random_params

MODES: dict[str, Any] = {
    "eval_kwargs": {"is_training": False},
    "train_kwargs": {"is_training": True},
}


def network(x):
    return hk.Linear(2, name="second")(jnp.tanh(hk.Linear(4, name="first")(x)))


def normed_network(x, is_training):
    norm = hk.BatchNorm(True, True, decay_rate=0.9, name="norm")
    return hk.Linear(1, name="dense")(norm(x, is_training))


def two_layers(params, x):
    first, second = params["first"], params["second"]
    hidden = jnp.tanh(x @ first["w"] + first["b"][None])
    return hidden @ second["w"] + second["b"][None]


@pytest.fixture
def haiku_promotes():
    """Haiku adds a bias to a batch and raises a float to an integer power."""
    with (
        jax.numpy_rank_promotion("allow"),
        jax.numpy_dtype_promotion("standard"),
    ):
        yield


@pytest.mark.parametrize(
    "transform", [lambda f: f, hk.transform, hk.transform_with_state]
)
def test_kernel_is_that_of_the_hand_written_network(transform, haiku_promotes):
    model = models.from_haiku(transform(network), (3,))
    params, x = random_params(model), normal((5, 3))
    assert_close(model.apply(params, x), two_layers(params, x))
    expected = jacobian_gram(two_layers, params, x)
    assert_close(jacobian_gram(model.apply, params, x), expected)
    assert model.init_state() == {}
    assert_close(model.apply_train(params, {}, x)[0], two_layers(params, x))


def test_initialization_is_that_of_haiku(getkey, haiku_promotes):
    key = getkey()
    params = models.from_haiku(network, (3,)).init(key)
    expected = hk.transform(network).init(key, jnp.zeros((1, 3), jnp.float32))
    assert jax.tree.all(jax.tree.map(np.allclose, params, expected))


def test_batch_statistics_train_and_freeze(haiku_promotes):
    model = models.from_haiku(normed_network, (3,), **MODES)
    params, x = random_params(model, jnp.float32), normal((6, 3), jnp.float32)
    dense, norm = params["dense"], params["norm"]

    def plain(x, mean, var):
        x = (x - mean) / jnp.sqrt(var + 1e-5) * norm["scale"] + norm["offset"]
        return x @ dense["w"] + dense["b"]

    mean, var = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    # Haiku itself would start the variance at 0.
    assert_close(model.apply(params, x), plain(x, 0, 1))
    outputs, state = model.apply_train(params, model.init_state(), x)
    assert_close(outputs, plain(x, mean, var))
    assert_close(model.freeze(state)(params, x), plain(x, mean, var))
    outputs, state = model.apply_train(params, state, 2 * x)
    ratio = 0.1 / (1 - 0.9**2)  # the second average, with haiku's debiasing
    average = state["norm/~/var_ema"]["average"]
    assert_close(average, ratio * (0.9 * var + 4 * var))


def test_statistics_keep_their_dtype_under_wider_parameters(haiku_promotes):
    model = models.from_haiku(normed_network, (3,), **MODES)
    params, x = random_params(model, jnp.float64), normal((6, 3))
    _, state = model.apply_train(params, model.init_state(), x)
    before = jax.tree.map(lambda leaf: leaf.dtype, model.init_state())
    assert jax.tree.map(lambda leaf: leaf.dtype, state) == before


def test_state_needs_the_arguments_of_training(haiku_promotes):
    def counting(x):
        hk.set_state("calls", hk.get_state("calls", [], init=jnp.zeros) + 1)
        return hk.Linear(1)(x)

    with pytest.raises(ValueError, match="has state.*pass train_kwargs"):
        models.from_haiku(counting, (3,))


def test_inputs_of_another_shape_are_refused(haiku_promotes):
    model = models.from_haiku(network, (3,))
    with pytest.raises(ValueError, match=r"`x` must have shape \(n, 3\), got \(4, 2\)"):
        model.apply(random_params(model), normal((4, 2)))


def test_an_output_without_its_axis_is_refused_by_the_contract(haiku_promotes):
    model = models.from_haiku(lambda x: network(x)[:, 0], (3,))
    with pytest.raises(ValueError, match="add an output axis"):
        models.check_apply(model.apply, random_params(model), normal((4, 3)))
