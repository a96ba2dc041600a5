from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import predict
from tests.helpers import assert_close
from tests.networks import dense_apply

from .problems import case


def _squared_distance(a, b):
    parts = jax.tree.map(lambda u, v: jnp.sum((u - v) ** 2), a, b)
    return jnp.stack(jax.tree.leaves(parts)).sum()


def test_the_linearized_network_with_these_parameters_predicts_the_same(nets, wide):
    for net, t in ((nets[0], 3.0), (nets[1], np.inf), (wide, 3.0)):
        found = predict.gradient_flow(net.K, net.y, t, f_0=net.f_0)
        theta = predict.weights(dense_apply, net.params, net.x, found)
        linear = tl.linearize(dense_apply, net.params)
        assert_close(linear(theta, net.x), found.outputs)
        predicted = predict.evaluate(found, net.K_test, net.f_0_test)
        assert_close(linear(theta, net.x_test), predicted)
        distance = _squared_distance(theta, net.params)
        assert_close(distance, found.squared_norm.sum())


def test_multipliers_and_frozen_parameters_are_those_of_the_kernel(nets):
    net = nets[0]
    trainable = [True, {"w": True, "b": False}]
    scale = [0.5, {"w": 3.0, "b": 1.0}]
    options: dict[str, Any] = {"trainable": trainable, "scale": scale}
    K = tl.gram(dense_apply, net.params, net.x, **options)
    found = predict.gradient_flow(K, net.y, 2.0, f_0=net.f_0)
    theta = predict.weights(dense_apply, net.params, net.x, found, **options)
    assert_close(tl.linearize(dense_apply, net.params)(theta, net.x), found.outputs)
    assert (theta[1]["b"] == net.params[1]["b"]).all()


def test_samples_are_taken_in_blocks(monkeypatch, nets):
    net = nets[0]
    found = predict.ridge(net.K, net.y[:, 0], 0.1)
    whole = predict.weights(dense_apply, net.params, net.x, found)
    monkeypatch.setattr("tangentlab.predict.weight_space._BLOCK", 3)
    parts = predict.weights(dense_apply, net.params, net.x, found)
    jax.tree.map(assert_close, parts, whole)


def test_what_has_no_parameters_raises(nets, wide):
    net = nets[0]
    several = predict.gradient_flow(net.K, net.y, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"one time, .* shape \(2, 7, 1\)"):
        predict.weights(dense_apply, net.params, net.x, several)
    shared = predict.ridge(net.K, jnp.ones((7, 2)), 0.1)
    with pytest.raises(ValueError, match="2 outputs, .* one kernel that they share"):
        predict.weights(dense_apply, wide.params, wide.x, shared)
    with pytest.raises(ValueError, match=r"\(7, 1\), the coefficients \(7, 2\)"):
        predict.weights(dense_apply, net.params, net.x, shared)
    other = predict.ridgeless(case().K, case().y)
    with pytest.raises(ValueError, match=r"\(7, 1\), the coefficients \(8,\)"):
        predict.weights(dense_apply, net.params, net.x, other)
