"""Networks computed in bfloat16."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import models

from .draws import normal, random_params

NETWORKS = {
    "mlp": models.mlp((8, 8, 2), widths=(20,)),
    "lenet": models.lenet((8, 8, 2)),
    "resnet18": models.resnet18((8, 8, 2), width=4),
}
WEIGHTS = np.sin(np.arange(64)).astype(np.float32)


def single(tree):
    return jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), tree)


def near(found, exact, within):
    exact = np.asarray(exact, np.float64)
    off = np.linalg.norm(np.asarray(found, np.float64) - exact)
    return 0 < off < within * np.linalg.norm(exact)


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_are_rounded_and_keep_their_type(name):
    model = NETWORKS[name]
    mixed = models.mixed_precision(model)
    params, x = single(random_params(model)), single(normal((40, 8, 8, 2)))
    found = jax.jit(mixed.apply)(params, x)
    assert found.dtype == jnp.float32
    assert near(found, jax.jit(model.apply)(params, x), 0.03)
    assert mixed.name == model.name and mixed.init is model.init


def test_layers_compute_in_half_precision():
    model = models.mixed_precision(NETWORKS["resnet18"])
    params, x = model.init(jax.random.key(0)), jnp.ones((4, 8, 8, 2))
    traced = jax.make_jaxpr(model.apply_train)(params, model.init_state(), x)
    layers = [e for e in traced.eqns if e.primitive.name == "conv_general_dilated"]
    assert len(layers) == 20
    assert {e.outvars[0].aval.dtype for e in layers} == {jnp.dtype(jnp.bfloat16)}


def test_gradients_and_statistics_keep_single_precision():
    model = models.resnet18((8, 8, 2), width=4, activation="gelu")  # no kinks
    mixed = models.mixed_precision(model)
    params, x = single(random_params(model)), single(normal((64, 8, 8, 2)))

    def total(model):
        def of(params):
            outputs, state = model.apply_train(params, model.init_state(), x)
            return (outputs[:, 0] * WEIGHTS).sum(), state

        return jax.jit(jax.grad(of, has_aux=True))(params)

    (found, state), (exact, wanted) = total(mixed), total(model)
    assert {leaf.dtype for leaf in jax.tree.leaves((found, state))} == {
        jnp.dtype("float32")
    }
    flat = [
        np.concatenate([a.ravel() for a in jax.tree.leaves(t)])
        for t in (found, exact, state, wanted)
    ]
    assert near(flat[0], flat[1], 0.04)
    assert near(flat[2], flat[3], 0.03)


def test_frozen_statistics_are_those_given():
    model = NETWORKS["resnet18"]
    mixed = models.mixed_precision(model)
    params, x = single(random_params(model)), single(normal((40, 8, 8, 2)))
    state = jax.tree.map(lambda a: 2 * a + 0.3, model.init_state())
    found = mixed.freeze(state)(params, x)
    assert near(found, model.freeze(state)(params, x), 0.03)
    assert not near(found, mixed.apply(params, x), 0.1)


def test_double_precision_and_integers_stay_what_they_are():
    def apply(params, x):
        assert params["w"].dtype == jnp.bfloat16
        looked_up = params["table"][x["token"], None]
        return x["pixels"] @ params["w"] + looked_up.astype(jnp.bfloat16)

    model = models.from_function(lambda key: {}, apply)
    x = {"pixels": normal((5, 3)), "token": np.arange(5)}
    params = {"w": jnp.asarray(normal((3, 1))), "table": np.arange(5)}
    found = models.mixed_precision(model).apply(params, x)
    assert found.dtype == jnp.float64
    exact = x["pixels"] @ np.asarray(params["w"]) + np.arange(5.0)[:, None]
    assert near(found, exact, 0.03)


def test_statistics_keep_their_type_whatever_the_network_makes_of_them():
    def apply_train(params, state, x):
        return x @ params, {"mean": x.mean(axis=0)}

    plain = models.from_function(lambda key: None, lambda w, x: x @ w)
    model = models.mixed_precision(plain._replace(apply_train=apply_train))
    state, x = {"mean": jnp.zeros(3, jnp.float32)}, single(normal((5, 3)))
    _, new = model.apply_train(jnp.ones((3, 1), jnp.float32), state, x)
    assert new["mean"].dtype == jnp.float32
    assert np.array_equal(new["mean"], new["mean"].astype(jnp.bfloat16))


@pytest.mark.parametrize("given", ["float16", "bfloat16", "float32", "float64"])
def test_outputs_come_in_the_widest_type_of_the_parameters(given):
    model = models.mixed_precision(
        models.from_function(lambda key: None, lambda p, x: x @ p["w"])
    )
    w, count = jnp.ones((3, 1), given), np.arange(3)
    wide = jnp.float32 if given == "float32" else jnp.dtype(given)
    wide = jnp.bfloat16 if given == "float16" else wide
    outputs = model.apply({"w": w, "count": count}, single(normal((5, 3))))
    assert outputs.dtype == wide


def test_complex_samples_lose_no_part():
    model = models.mixed_precision(
        models.from_function(lambda key: None, lambda w, x: jnp.imag(x) @ w)
    )
    x = jnp.asarray([[1 + 2j, 3 - 4j]], jnp.complex64)
    with jax.numpy_dtype_promotion("standard"):
        assert model.apply(jnp.ones((2, 1), jnp.float32), x).item() == -2


def test_samples_are_still_described():
    apply = models.mixed_precision(NETWORKS["lenet"]).apply
    assert models.sample_of(apply) == models.sample_of(NETWORKS["lenet"].apply)


@pytest.mark.parametrize("name", NETWORKS)
def test_it_keeps_the_contract_and_learns_as_well(name):
    model, x = NETWORKS[name], single(normal((160, 8, 8, 2)))
    y = (x[:, :4].mean(axis=(1, 2, 3)) > 0).astype(np.float32)
    task = tl.tasks.Task(np.asarray(x), np.asarray(y), num_train=128)
    params, recipe = model.init(jax.random.key(1)), tl.Recipe(epochs=20, batch_size=16)
    plain, mixed = (
        tl.train(each, params, task, recipe, key=jax.random.key(2))
        for each in (model, models.mixed_precision(model))
    )
    assert {a.dtype for a in jax.tree.leaves(mixed.params)} == {jnp.dtype("float32")}
    assert not np.array_equal(plain.train_loss, mixed.train_loss)
    np.testing.assert_allclose(mixed.train_loss[0, 0], plain.train_loss[0, 0], 0.05)
    assert mixed.train_accuracy[0, -1] > 0.9 and plain.train_accuracy[0, -1] > 0.9


def test_what_mixes_examples_is_still_refused():
    def centered(w, x):
        return (x - x.mean(axis=0, keepdims=True)) @ w

    model = models.from_function(lambda key: jnp.ones((3, 1)), centered)
    with pytest.raises(ValueError, match="mixes examples"):
        w, x = jnp.ones((3, 1)), single(normal((6, 3)))
        models.check_apply(models.mixed_precision(model).apply, w, x)


def test_a_function_is_no_model(no_type_checks):
    apply: Any = NETWORKS["mlp"].apply
    with pytest.raises(TypeError, match="from_function"):
        models.mixed_precision(apply)
