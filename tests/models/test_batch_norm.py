"""The batch norm of the zoo beside that of flax."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.models._linen.batch_norm import BatchNorm

KEYS = jax.random.split(jax.random.key(0), 5)
X = 3 * jax.random.normal(KEYS[0], (6, 4, 5, 3)) + 1
SHORTCUT = jax.random.normal(KEYS[1], X.shape)
ACTIVATIONS = {"relu": jax.nn.relu, "gelu": jax.nn.gelu, "none": lambda x: x}


class _Flax(nn.Module):
    activation: Any

    @nn.compact
    def __call__(self, x, train, shortcut=None):
        norm = nn.BatchNorm(
            use_running_average=not train, momentum=0.9, epsilon=1e-5, name="norm"
        )
        with jax.numpy_dtype_promotion("standard"):
            pre = norm(x)
        return self.activation(pre if shortcut is None else shortcut + pre)


class _Ours(nn.Module):
    activation: Any

    @nn.compact
    def __call__(self, x, train, shortcut=None):
        return BatchNorm(self.activation, name="norm")(x, train, shortcut)


def _variables(scale):
    draw = jax.random.normal
    params = {"scale": scale * draw(KEYS[2], (3,)), "bias": draw(KEYS[3], (3,))}
    mean, var = jnp.array([0.5, -1.0, 0.0]), jnp.array([1.0, 2.0, 0.5])
    return {"params": {"norm": params}, "batch_stats": {"norm": _stats(mean, var)}}


def _stats(mean, var):
    return {"mean": mean, "var": var}


def _trained(module, variables, x, shortcut):
    weights = jnp.sin(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape)

    def loss(params, x, shortcut):
        given = {**variables, "params": params}
        y, changed = module.apply(given, x, True, shortcut, mutable=["batch_stats"])
        told = [jnp.sin(leaf).astype(y.dtype) for leaf in jax.tree.leaves(changed)]
        return (weights * y**2).sum() + jnp.concatenate(told).sum(), (y, changed)

    gradient = jax.grad(loss, (0, 1) if shortcut is None else (0, 1, 2), has_aux=True)
    return gradient(variables["params"], x, shortcut)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shortcut", [None, SHORTCUT], ids=["alone", "shortcut"])
@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_outputs_statistics_and_gradients_are_those_of_flax(
    activation, shortcut, scale
):
    function = ACTIVATIONS[activation]
    variables = _variables(scale)
    ours, flaxs = (
        _trained(module(function), variables, X, shortcut) for module in (_Ours, _Flax)
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-9), ours, flaxs)
    assert any(np.abs(leaf).max() > 0.1 for leaf in jax.tree.leaves(ours[0]))


def test_frozen_statistics_give_what_flax_gives_bit_by_bit():
    variables = _variables(1.0)
    ours, flaxs = (
        module(jax.nn.relu).apply(variables, X, False, SHORTCUT)
        for module in (_Ours, _Flax)
    )
    np.testing.assert_array_equal(ours, flaxs)


def test_variables_are_those_of_flax():
    ours, flaxs = (
        module(jax.nn.relu).init(KEYS[4], X, True) for module in (_Ours, _Flax)
    )
    assert jax.tree.structure(ours) == jax.tree.structure(flaxs)
    jax.tree.map(np.testing.assert_array_equal, ours, flaxs)
    assert {leaf.dtype for leaf in jax.tree.leaves(ours)} == {jnp.dtype("float32")}


def test_half_precision_has_statistics_in_single():
    cast = {
        key: jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), value)
        for key, value in _variables(1.0).items()
    }
    cast["batch_stats"] = jax.tree.map(
        lambda leaf: leaf.astype(jnp.float32), cast["batch_stats"]
    )
    x = (X + 300).astype(jnp.bfloat16)  # squares lose what a variance is made of
    _, (y, changed) = _trained(_Ours(jax.nn.relu), cast, x, None)
    assert y.dtype == jnp.bfloat16
    found = changed["batch_stats"]["norm"]["mean"]
    wanted = 0.9 * jnp.array([0.5, -1.0, 0.0]) + 0.1 * x.astype(float).mean((0, 1, 2))
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
