"""Every layer against dense covariances, and against wide finite networks."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.helpers import assert_close
from tests.infinite import oracle
from tests.infinite.networks import NETWORKS, examples

# The others are compared with stored values of another library; see test_reference.py.
FEW = "conv_dilated conv_gap attention_root masked_pool"
REST = sorted(set(NETWORKS) - {"myrtle5", *FEW.split()})
BOTH = [*FEW.split(), *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]


@pytest.mark.parametrize("name", BOTH)
def test_kernels_are_those_of_the_dense_oracle(name):
    layer, x = NETWORKS[name].build(), examples(name)
    nngp, ntk = layer.kernel(x)
    expected_nngp, expected_ntk = oracle.kernels(layer, x)
    np.testing.assert_allclose(nngp, expected_nngp, rtol=1e-6)
    np.testing.assert_allclose(ntk, expected_ntk, rtol=1e-6)


@pytest.mark.parametrize("name", ["conv_gap", "masked_pool"])
def test_kernels_between_two_sets_are_those_of_the_dense_oracle(name):
    layer, x_1, x_2 = NETWORKS[name].build(), examples(name), examples(name, 3, seed=1)
    found = layer.kernel(x_1, x_2)
    for K, expected in zip(found, oracle.kernels(layer, x_1, x_2), strict=True):
        np.testing.assert_allclose(K, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["conv_gap", "layer_norm"])
def test_single_kernels_and_diagonals_are_those_of_both(name):
    layer, x = NETWORKS[name].build(), examples(name)
    nngp, ntk = layer.kernel(x)
    assert_close(layer.nngp(x), nngp)
    assert_close(layer.ntk(x), ntk)
    diagonals = layer.diagonal(x)
    assert_close(diagonals.nngp, jnp.diag(nngp))
    assert_close(diagonals.ntk, jnp.diag(ntk))
