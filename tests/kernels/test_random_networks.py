import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tests.helpers import jacobian_gram

from .cases import as_type
from .oracle import DOUBLE, SINGLE, assert_agrees, mean_over_outputs
from .random_networks import networks


@pytest.fixture(autouse=True, scope="module")
def quick_compilation():
    """Each network is compiled, and runs for a millisecond."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


SIZES = st.sampled_from([1, 3])  # few, since every new shape is compiled


@settings(deadline=None, max_examples=12, print_blob=True)
@given(network=networks(), n=SIZES, m=SIZES, single=st.booleans())
def test_gram_of_a_random_network(network, n, m, single):
    params, x_1, x_2 = network.draw(n, m)
    dense = jax.jit(lambda x_1, x_2: jacobian_gram(network.apply, params, x_1, x_2))
    both = mean_over_outputs(np.asarray(dense(x_1, jnp.concatenate([x_1, x_2]))))
    dtype, resolution = (jnp.float32, SINGLE) if single else (jnp.float64, DOUBLE)
    params, x_1, x_2 = as_type((params, x_1, x_2), dtype)
    K = tl.gram(network.apply, params, x_1)
    assert_agrees(K, both[:, :n], resolution)
    np.testing.assert_array_equal(K, K.T)
    assert_agrees(tl.gram(network.apply, params, x_1, x_2), both[:, n:], resolution)
