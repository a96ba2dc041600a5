"""Positions that are not there take no part, in any layer."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import infinite as inf
from tests.infinite import oracle
from tests.infinite.finite_draws import check_against_draws
from tests.infinite.masked_networks import MASKED, uneven
from tests.infinite.networks import inputs

SHORT, LONG = 4, 6
NOT_AS_IF_SHORT = {
    "layer_norm_images": "Flatten divides by all positions",
    "avg_pool": "Flatten divides by all positions",
    "conv_local_valid": "Flatten divides by all positions",
    "resize": "positions move with the length",
    "resize_nearest": "positions move with the length",
    "resize_lanczos": "positions move with the length",
    "conv_circular": "the end moves with the length",
    "conv_transpose_circular": "the end moves with the length",
    "conv_valid": "a window beyond the end is there if its middle is",
    "avg_pool_valid": "a window beyond the end is there if its middle is",
    "aggregate": "of four positions",
}
AS_IF_SHORT = [
    name
    for name, case in MASKED.items()
    if name not in NOT_AS_IF_SHORT and case.shape[0] == LONG
]
FEW = """
    layer_norm_positions layer_norm_after_pool resize resize_lanczos slice slice_index
    conv_transpose conv_local sum_pool global_sum_pool aggregate attention_relu
    attention_root conv_valid conv_circular conv_dilated_even shortcut_last product
    concatenate
""".split()
FEW_SHORT = ["layer_norm_positions", "conv_transpose", "sum_pool", "conv_local"]
FINITE = ["layer_norm_positions", "conv_transpose"]


def some_slow(names, fast):
    """All names, those that are not fast marked as slow."""
    slow = pytest.mark.slow
    return [name if name in fast else pytest.param(name, marks=slow) for name in names]


def drawn(layer, shape):
    return jax.jit(layer.init, static_argnums=1)(jax.random.key(0), shape)


def shorter_and_masked(name, n=4):
    """The same examples, short ones and longer ones with something behind them."""
    case = MASKED[name]
    long = inputs(case, n)
    there = np.arange(LONG) < SHORT
    shape = (n, *case.shape[:-1])
    mask = np.broadcast_to(there.reshape(-1, *[1] * (len(shape) - 2)), shape)
    graph = long.graph
    small = None if graph is None else np.asarray(graph)[:, :SHORT, :SHORT]
    return inf.Batch(long.x[:, :SHORT], None, small), inf.Batch(long.x, mask, graph)


@pytest.mark.parametrize("name", some_slow(MASKED, FEW))
def test_kernels_are_those_of_the_dense_oracle(name):
    layer, x = MASKED[name].build(), uneven(MASKED[name])
    expected = oracle.kernels(layer, x)
    for K, exact in zip(layer.kernel(x), expected, strict=True):
        np.testing.assert_allclose(K, exact, rtol=1e-6)


@pytest.mark.parametrize("name", ["layer_norm_positions", "shortcut_last"])
def test_diagonals_are_those_of_the_dense_oracle(name):
    layer, x = MASKED[name].build(), uneven(MASKED[name])
    expected = oracle.kernels(layer, x)
    for values, exact in zip(layer.diagonal(x), expected, strict=True):
        np.testing.assert_allclose(values, np.diag(exact), rtol=1e-6)


@pytest.mark.parametrize("name", some_slow(AS_IF_SHORT, FEW_SHORT))
def test_a_kernel_is_that_of_shorter_inputs(name):
    layer = MASKED[name].build()
    short, masked = shorter_and_masked(name)
    for K, exact in zip(layer.kernel(masked), layer.kernel(short), strict=True):
        np.testing.assert_allclose(K, exact, rtol=1e-7)


@pytest.mark.parametrize("name", FINITE)
def test_finite_networks_are_those_on_shorter_inputs(name):
    layer = MASKED[name].build()
    short, masked = shorter_and_masked(name)
    apply = jax.jit(layer.apply)
    params = drawn(layer, MASKED[name].shape)
    np.testing.assert_allclose(apply(params, masked), apply(params, short), rtol=1e-9)


@pytest.mark.parametrize("anything", [1e6, np.inf, np.nan])
def test_what_is_not_there_may_be_anything(anything):
    layer, x = MASKED["aggregate"].build(), uneven(MASKED["aggregate"])
    filled = np.where(np.asarray(x.mask)[..., None], x.x, anything)
    assert (filled != x.x).any()
    found = layer.kernel(x._replace(x=filled))
    for K, exact in zip(found, layer.kernel(x), strict=True):
        np.testing.assert_array_equal(K, exact)


def test_one_set_may_have_a_mask_and_the_other_none():
    case = MASKED["layer_norm_positions"]
    layer, x_1, x_2 = case.build(), uneven(case), uneven(case, 3, seed=1)
    whole = x_2._replace(mask=np.ones(x_2.x.shape[:-1], bool))
    for one, other in ((x_2.x, whole), (inf.Batch(x_2.x), whole)):
        pairs = zip(layer.kernel(x_1, one), layer.kernel(x_1, other), strict=True)
        for K, exact in pairs:
            np.testing.assert_allclose(K, exact, rtol=1e-12)


def test_an_example_of_no_positions_is_zero_up_to_the_last_bias():
    name = "layer_norm_positions"
    layer, x = MASKED[name].build(), uneven(MASKED[name])
    layer = inf.serial(layer, inf.Dense(1, 1.0, 0.5))
    mask = np.array(x.mask)
    mask[1] = False
    others = np.array([0, 2, 3])
    empty, before = layer.kernel(x._replace(mask=mask)), layer.kernel(x)
    params = drawn(layer, MASKED[name].shape)
    outputs = jax.jit(layer.apply)(params, x._replace(mask=mask))
    assert np.isfinite(outputs).all()
    for K, exact in zip(empty, before, strict=True):
        rest = jnp.ix_(others, others)
        np.testing.assert_allclose(K[rest], exact[rest], rtol=1e-12)
    np.testing.assert_allclose(empty.nngp[1], empty.nngp[1, 1], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKED)
def test_each_network_by_draws(name):
    check_against_draws(MASKED[name].build(), uneven(MASKED[name], 3), 24, 100)
