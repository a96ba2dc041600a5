"""Products with a kernel agree with its Gram matrix, whichever route they take."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.kernels.matrix_free import products
from tangentlab.kernels.matrix_free.lanes import windows
from tests.helpers import assert_close, jacobian_gram
from tests.networks import dense_apply, dense_params

from .cases import promotion
from .jobs import conv_apply, conv_params
from .oracle import (
    BFLOAT16,
    DOUBLE,
    assert_agrees,
    between,
    leaf_kernels,
    mean_over_outputs,
)
from .table import CASES

NAMES = (
    "dense_ten_outputs",
    "layer_used_twice_at_positions",
    "weight_norm",
    "one_logit_without_data",
    "conv_everything_at_once",
    "layers_in_a_loop",
    "tree_of_inputs",
    "weighed_and_shared",
    "own_product_backward",
    "mixed_precision",
    "integer_buffers",
    "frozen_by_a_prefix",
    "no_parameter_reaches_the_output",
)
SINGLE_INSIDE = {"nnx_attention", "nnx_embedding"}
"""Networks that round to float32 on their way, so that products cannot do better."""


@pytest.fixture(autouse=True, scope="module")
def quick_compilation():
    """Many networks are compiled, and each runs for a millisecond."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()


def drawn(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape)


def rows_of_the_table():
    """The networks named above, across two sets of samples; slowly, all and both."""
    for name in CASES:
        for across in (True, False):
            slow = [] if across and name in NAMES else [pytest.mark.slow]
            title = f"{name}-{'across' if across else 'square'}"
            yield pytest.param(name, across, marks=slow, id=title)


@pytest.mark.parametrize(("name", "across"), list(rows_of_the_table()))
def test_products_agree_with_dense_jacobians(name, across):
    case = CASES[name]()
    resolution = BFLOAT16 if "bfloat16" in case.tags else DOUBLE
    resolution = 1e-6 if name in SINGLE_INSIDE else resolution
    leaves = [between(kernel, across) for kernel in leaf_kernels(name)]
    full = np.sum(leaves, axis=0)
    mean, x_2 = mean_over_outputs(full), case.x_2 if across else None
    _, c, m, _ = full.shape

    def product(v, **options):
        options |= {"trainable": case.trainable, "scale": case.scale}
        with promotion("relaxed" in case.tags):
            return tl.kernel_product(case.apply, case.params, case.x, x_2, v, **options)

    v = drawn(m, 4)  # columns enough for the route through gradients
    assert_agrees(product(v[:, 0]), mean @ v[:, 0], resolution)
    assert_agrees(product(v), mean @ v, resolution)
    w = drawn(m, c)
    expected = np.einsum("acbd,bd->ac", full, w)
    assert_agrees(product(w, outputs="full"), expected, resolution)


X_1, X_2 = drawn(23, 5, 5, 2), np.random.default_rng(7).normal(size=(13, 5, 5, 2))
FULL = np.asarray(jacobian_gram(conv_apply, conv_params(), X_1, X_2))


@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize("outputs", ["mean", "full"])
def test_less_memory_changes_nothing_but_rounding_and_then_raises(
    columns, outputs, monkeypatch
):
    cuts, real = [], products.cut
    monkeypatch.setattr(
        products, "cut", lambda *args: cuts.append(real(*args)) or cuts[-1]
    )
    v, expected = drawn(13, columns), mean_over_outputs(FULL) @ drawn(13, columns)
    if outputs == "full":
        v = drawn(13, 2, columns)
        expected = np.einsum("acbd,bdk->ack", FULL, v)

    def product(memory):
        return tl.kernel_product(
            conv_apply, conv_params(), X_1, X_2, v, outputs=outputs, memory=memory
        )

    for memory in (10**7, 280_000, 60_000, 36_000):
        assert_agrees(product(memory), expected, 1e-13)
    assert cuts[0].chunk == 23 and cuts[-1].chunk < 8  # 23 and 13 are prime
    assert cuts[0].width > cuts[-1].width == 1
    with pytest.raises(ValueError, match="does not fit 19.5 KiB: at least 2.* KiB are"):
        product(20_000)


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 40), size=st.integers(1, 50))
def test_windows_have_one_size_and_bring_each_item_once(n, size):
    found = list(windows(n, size))
    assert {w.items.stop - w.items.start for w in found} == {min(n, size)}
    fresh = [range(n)[w.items][w.done :] for w in found]
    assert [i for part in fresh for i in part] == list(range(n))
    assert sum(w.fresh for w in found) == n


@settings(deadline=None, max_examples=10)
@given(
    seed=st.integers(0, 99),
    shape=st.sampled_from([(7,), (7, 4), (7, 2), (7, 2, 5)]),
)
def test_products_are_linear_and_symmetric(seed, shape):
    rng = np.random.default_rng(seed)
    params = dense_params(jax.random.key(seed), (3, 5, 2))
    x, u, v = rng.normal(size=(7, 3)), rng.normal(size=shape), rng.normal(size=shape)
    outputs = "full" if shape[1:2] == (2,) else "mean"

    def product(v):
        return tl.kernel_product(dense_apply, params, x, None, v, outputs=outputs)

    first, second = product(u), product(v)
    assert_close(product(2 * u - v), 2 * first - second)
    assert_close(np.vdot(v, first), np.vdot(u, second))


def test_outputs_by_choice():
    v = drawn(13, 5)

    def product(outputs, v=v):
        return tl.kernel_product(
            conv_apply, conv_params(), X_1, X_2, v, outputs=outputs
        )

    assert_close(product("sum"), FULL.sum(axis=(1, 3)) @ v)
    assert_close(product(1, v[:, 0]), FULL[:, 1, :, 1] @ v[:, 0])
    difference = np.array([1.0, -2.0])
    K = np.einsum("acbd,c,d->ab", FULL, difference, difference)
    assert_close(product(lambda f: f[:, 0] - 2 * f[:, 1], v[:, :1]), K @ v[:, :1])


def test_a_function_of_logits_need_not_be_hashable():
    weigh = eqx.nn.Linear(2, "scalar", use_bias=False, key=jax.random.key(0))

    class Weighed(eqx.Module):
        weights: jax.Array

        def __call__(self, logits):
            return logits @ self.weights

    weights = weigh.weight[0].astype(jnp.float64)
    found = tl.kernel_product(
        conv_apply, conv_params(), X_1, X_2, drawn(13), outputs=Weighed(weights)
    )
    assert_close(found, np.einsum("acbd,c,d,b->a", FULL, weights, weights, drawn(13)))


@pytest.mark.parametrize("columns", [1, 5])
def test_multipliers_and_frozen_parameters(columns):
    params, v = conv_params(), drawn(13, columns)
    elementwise = np.random.default_rng(1).uniform(size=(3, 3, 2, 4))
    scale = {"k": elementwise, "b": 0.0, "dense": [2.0, 0.5]}
    trainable = {"k": True, "b": True, "dense": [False, True]}
    data = conv_apply, params, X_1, X_2
    K = tl.gram(*data, scale=scale, trainable=trainable)
    found = tl.kernel_product(*data, v, scale=scale, trainable=trainable)
    assert_agrees(found, np.asarray(K) @ v, DOUBLE)


@pytest.mark.parametrize("shape", [(13,), (13, 1), (13, 5)])
def test_products_work_under_jit(shape):
    v = drawn(*shape)

    @jax.jit
    def product(params, x_1, x_2, v):
        return tl.kernel_product(conv_apply, params, x_1, x_2, v)

    found = product(conv_params(), X_1, X_2, v)
    assert_close(found, mean_over_outputs(FULL) @ v)
    by_value = jax.jit(
        lambda v: tl.kernel_product(conv_apply, conv_params(), X_1, X_2, v)
    )
    assert_close(by_value(v), found)


@pytest.mark.parametrize("columns", [1, 5])
def test_products_have_derivatives(columns):
    params = dense_params(jax.random.key(0), (3, 5, 1))
    v, x = drawn(3, columns), jnp.asarray(drawn(3, 3))

    def energy(params):
        return jnp.vdot(v, tl.kernel_product(dense_apply, params, x, None, v))

    def reference(params):
        return jnp.vdot(v, jacobian_gram(dense_apply, params, x)[:, 0, :, 0] @ v)

    found, expected = (jax.jit(jax.grad(f))(params) for f in (energy, reference))
    jax.tree.map(assert_close, found, expected)


@pytest.mark.parametrize("columns", [1, 5])
def test_a_second_product_reads_the_network_and_does_not_compile_it(columns):
    traced = []

    def apply(params, x):
        traced.append(x.shape)
        return dense_apply(params, x)

    params = dense_params(jax.random.key(0), (3, 5, 2))
    tl.kernel_product(apply, params, drawn(40, 3), None, drawn(40, columns))
    seen = len(traced)
    other = jax.tree.map(lambda leaf: 2 * leaf, params)
    tl.kernel_product(apply, other, drawn(40, 3), None, drawn(40, columns))
    assert seen and {len for len, _ in traced[seen:]} <= {1, 4}  # a few rows alone


@pytest.mark.parametrize("columns", [1, 5])
def test_precision(columns):
    params, v = conv_params(), drawn(13, columns)
    small = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params)
    x_1, x_2 = X_1.astype(np.float32), X_2.astype(np.float32)
    expected = mean_over_outputs(FULL) @ v
    found = tl.kernel_product(conv_apply, small, x_1, x_2, v)
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, expected, atol=1e-5 * abs(expected).max())
    wide = tl.kernel_product(conv_apply, small, x_1, x_2, v, precision="float64")
    assert wide.dtype == jnp.float64
    rounded = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), small)
    x_1, x_2 = x_1.astype(np.float64), x_2.astype(np.float64)
    reference = tl.kernel_product(conv_apply, rounded, x_1, x_2, v)
    np.testing.assert_allclose(wide, reference, rtol=1e-12)


def test_whole_numbers_are_multiplied_too():
    params, x = dense_params(jax.random.key(0), (3, 5, 1)), drawn(4, 3)
    v = np.array([1, -1, 1, 0])
    found = tl.kernel_product(dense_apply, params, x, None, v)
    assert_close(found, tl.gram(dense_apply, params, x) @ v.astype(np.float64))


def test_progress_counts_each_example_once(capsys):
    params, x = dense_params(jax.random.key(0), (3, 5, 1)), drawn(4, 3)
    tl.kernel_product(dense_apply, params, x, None, drawn(4), progress=True)
    assert "8/8" in capsys.readouterr().err
