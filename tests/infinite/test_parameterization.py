"""One random function in two parameterizations, finite and infinite."""

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl
from tangentlab import infinite as inf

STDS = {"weight_std": 1.3, "bias_std": 0.4}
X = np.random.default_rng(0).normal(size=(4, 5, 3))


def network(parameterization):
    options = {**STDS, "parameterization": parameterization}
    return inf.serial(
        inf.Conv(6, (3,), **options),
        inf.Relu(),
        inf.GlobalAvgPool(),
        inf.Dense(1, **options),
    )


def test_parts_of_the_finite_gram_convert_from_one_into_the_other():
    ntk, standard = network("ntk"), network("standard")
    params = ntk.init(jax.random.key(0), X.shape[1:])
    fan_ins = {0: 9, 3: 6}
    moved = [
        {
            "weight": part["weight"] * STDS["weight_std"] / np.sqrt(fan_ins[i]),
            "bias": part["bias"] * STDS["bias_std"],
        }
        if i in fan_ins
        else part
        for i, part in enumerate(params)
    ]
    moved = tuple(moved)
    np.testing.assert_allclose(ntk.apply(params, X), standard.apply(moved, X))
    parts = tl.gram_by_parameter(ntk.apply, params, X)
    others = tl.gram_by_parameter(standard.apply, moved, X)
    for i, fan_in in fan_ins.items():
        weight = fan_in / STDS["weight_std"] ** 2
        np.testing.assert_allclose(others[i]["weight"], weight * parts[i]["weight"])
        bias = 1 / STDS["bias_std"] ** 2
        np.testing.assert_allclose(others[i]["bias"], bias * parts[i]["bias"])


def test_both_have_the_same_covariance_and_widening_changes_no_kernel():
    ntk, standard = network("ntk"), network("standard")
    np.testing.assert_allclose(ntk.nngp(X), standard.nngp(X))
    options = {**STDS, "parameterization": "standard"}
    one = inf.serial(inf.Dense(8, **options), inf.Relu(), inf.Dense(1, **options))
    wide = inf.serial(
        inf.Dense(800, **options),
        inf.Relu(),
        inf.Dense(1, fan_in_scale=100.0, **options),
    )
    x = X.reshape(4, -1)
    np.testing.assert_allclose(one.ntk(x), wide.ntk(x))


def test_no_bias_zero_bias_and_trained_bias():
    def parameters(bias_std, parameterization):
        layer = inf.Dense(2, 1.0, bias_std, parameterization=parameterization)
        return sorted(layer.init(jax.random.key(0), (3,)))

    assert parameters(None, "ntk") == parameters(0.0, "ntk") == ["weight"]
    assert parameters(None, "standard") == ["weight"]
    assert parameters(0.0, "standard") == parameters(0.1, "ntk") == ["bias", "weight"]
    zero = inf.Dense(1, 1.0, 0.0, parameterization="standard")
    none = inf.Dense(1, 1.0, None, parameterization="standard")
    x = jnp.eye(3)
    np.testing.assert_allclose(zero.ntk(x), none.ntk(x) + 1.0)
