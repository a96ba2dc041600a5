"""Kernels are those of wide finite networks, averaged over their weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import infinite as inf
from tests.helpers import jacobian_gram
from tests.infinite.activations import cases
from tests.infinite.finite_draws import check_against_draws
from tests.infinite.networks import NETWORKS, examples

FAST = ["standard", "masked_dense", "dropout"]
SLOW = [name for name in NETWORKS if name not in {*FAST, "myrtle5"}]
ACTIVATIONS = cases.CLOSED | cases.NUMERICAL


@pytest.mark.parametrize("name", FAST)
def test_a_network_by_draws(name):
    check_against_draws(NETWORKS[name].build(), examples(name, 3), 32, 64)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_each_network_by_draws(name):
    check_against_draws(NETWORKS[name].build(), examples(name, 3), 24, 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_each_activation_by_draws(name):
    layer = inf.serial(
        inf.Dense(8, 0.9, 0.2), ACTIVATIONS[name], inf.Dense(1, 1.0, 0.1)
    )
    x = np.random.default_rng(0).normal(size=(3, 5))
    check_against_draws(layer, inf.Batch(x), 32, 100)


def test_monte_carlo_is_the_mean_over_draws_of_the_network():
    layer = inf.serial(inf.Dense(16, 1.2, 0.1), inf.Relu(), inf.Dense(3))
    x = np.random.default_rng(0).normal(size=(3, 4))
    key = jax.random.key(0)
    found = inf.monte_carlo(layer, x, x[:2], key=key, num_draws=2)
    params = [layer.init(each, (4,)) for each in jax.random.split(key, 2)]
    outputs = [layer.apply(each, x) for each in params]
    nngps = [f @ f[:2].T / 3 for f in outputs]
    np.testing.assert_allclose(found.nngp, sum(nngps) / 2)
    ntks = [jacobian_gram(layer.apply, each, jnp.asarray(x)) for each in params]
    ntk = jnp.einsum("icjc->ij", sum(ntks)) / 6
    np.testing.assert_allclose(found.ntk, ntk[:, :2])


def test_no_draws_are_refused():
    with pytest.raises(ValueError, match="`num_draws` must be at least 1, got 0"):
        inf.monte_carlo(
            inf.Dense(1), np.ones((2, 3)), key=jax.random.key(0), num_draws=0
        )
