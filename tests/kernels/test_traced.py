"""Under `jit`: the same sums, and those of 16-bit numbers in 32 bits."""

import re
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.networks import dense_apply, dense_params

X = np.random.default_rng(0).normal(size=(5, 3))


@pytest.mark.parametrize("x_2", [None, X[:2] + 1], ids=["symmetric", "across"])
def test_parts_of_parameters_under_jit(x_2):
    params = {
        "net": dense_params(jax.random.key(0), (3, 4, 2)),
        "calls": jnp.array(3),
    }

    def apply(p, x):
        return dense_apply(p["net"], x)

    def parts(params, x):
        return tl.gram_by_parameter(apply, params, x, x_2)

    found, expected = jax.jit(parts)(params, X), parts(params, X)
    compare = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)
    jax.tree.map(compare, found, expected)
    assert jax.tree.structure(found) == jax.tree.structure(params)
    if x_2 is None:
        for K in jax.tree.leaves(found):
            np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
@pytest.mark.parametrize("sums", ["matrix", "under jit", "diagonal", "by parameter"])
def test_squares_of_16_bit_gradients_are_summed_in_32(dtype, sums):
    """The largest float16 is 65,504, and 4 x 200 x 200 is more than that."""
    x = jnp.full((3, 4), 200, dtype).at[1, 0].set(1)
    w = jnp.ones((4, 1), dtype)

    def apply(w, x):
        return x @ w

    computed = {
        "matrix": lambda: tl.gram(apply, w, x),
        "under jit": lambda: jax.jit(lambda x: tl.gram(apply, w, x))(x),
        "diagonal": lambda: tl.gram_diagonal(apply, w, x),
        "by parameter": lambda: tl.gram_by_parameter(apply, w, x),
    }
    K, exact = computed[sums](), np.asarray(x, np.float64)
    exact = exact @ exact.T
    assert K.dtype == jnp.float32
    np.testing.assert_array_equal(K, exact if K.ndim == 2 else exact.diagonal())


def test_a_network_of_data_alone_has_a_kernel_of_zeros_of_its_shape():
    def apply(p, x):
        return jnp.sin(x) + 0.0 * jnp.sum(jax.lax.stop_gradient(p))

    params, x = jnp.ones(3), jnp.ones((4, 2))
    K = jax.jit(lambda p, a, b: tl.gram(apply, p, a, b))(params, x, x[:3])
    assert K.shape == (4, 3) and not K.any()
    full = jax.jit(lambda p, a: tl.gram_full(apply, p, a))(params, x)
    assert full.shape == (4, 2, 4, 2) and not full.any()
    diagonal = tl.gram_diagonal(apply, params, x)
    assert diagonal.shape == (4,) and not diagonal.any()


KNOWN = dense_params(jax.random.key(0), (3, 4, 2))
CAPTURED = np.array([0.5, -1.0, 2.0, 1.0, -0.3])
KERNELS: dict[str, Any] = {
    "gram": tl.gram,
    "full": tl.gram_full,
    "diagonal": tl.gram_diagonal,
    "by parameter": lambda *a, **k: jax.tree.leaves(tl.gram_by_parameter(*a, **k)),
    "product": partial(tl.kernel_product, x_2=None, v=CAPTURED),
    "products": partial(tl.kernel_product, x_2=None, v=np.eye(5)),
}


def _scaled(kernel, s):
    params = dense_params(jax.random.key(0), (3, 4, 2))
    return kernel(dense_apply, params, X, scale=s)


def _known(kernel, s):
    """Nothing but the multiplier is traced, and nothing has a value all the same."""
    return kernel(dense_apply, KNOWN, jnp.asarray(X), scale=s)


def _in_a_loop(kernel, s):
    kernels = kernel(dense_apply, KNOWN, X)
    start = jax.tree.map(jnp.zeros_like, kernels)

    def step(i, total):
        more = kernel(dense_apply, KNOWN, X)
        return jax.tree.map(lambda a, b: a + s / 2 * b, total, more)

    return jax.lax.fori_loop(0, 2, step, start)


def _captured_by_a_rule(kernel, s):
    @jax.custom_jvp
    def bent(z):
        return jnp.tanh(z)

    @bent.defjvp
    def rule(primals, tangents):
        return jnp.tanh(primals[0]), s * tangents[0]

    return kernel(lambda w, x: bent(x @ w), KNOWN[0]["w"], X)


def _captured(kernel, s):
    params = dense_params(jax.random.key(0), (3, 4, 2))
    return kernel(lambda p, x: s * dense_apply(p, x) ** 2, params, X)


def _captured_by_outputs(kernel, s):
    params = dense_params(jax.random.key(0), (3, 4, 2))
    return kernel(dense_apply, params, X, outputs=lambda logits: s * logits[:, 0])


CASES = [
    (name, made, power)
    for made, power in [
        (_scaled, 1),
        (_known, 1),
        (_in_a_loop, 1),
        (_captured, 2),
        (_captured_by_a_rule, 2),
        (_captured_by_outputs, 2),
    ]
    for name in KERNELS
    if (name, made) != ("full", _captured_by_outputs)
]


@pytest.mark.parametrize(("name", "made", "power"), CASES)
def test_what_is_traced_besides_parameters_and_samples(name, made, power):
    """Kernels grow by `s ** power`, so that derivatives are known."""
    function = partial(made, KERNELS[name])
    compare = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-10)
    expected = function(2.0)
    jax.tree.map(compare, jax.jit(function)(2.0), expected)
    slope = jax.grad(lambda s: sum(K.sum() for K in jax.tree.leaves(function(s))))(2.0)
    total = sum(K.sum() for K in jax.tree.leaves(expected))
    compare(slope, power * total / 2.0)
    jax.tree.map(compare, function(2.0), expected)


def test_a_random_key_that_a_network_captured():
    key = jax.random.key(0)

    def apply(params, x):
        return dense_apply(params, x) * jax.random.normal(key, (1, 2))

    found = jax.jit(lambda p: tl.gram(apply, p, X))(KNOWN)
    np.testing.assert_allclose(found, tl.gram(apply, KNOWN, X), rtol=1e-10)


def test_what_is_not_trained_need_not_be_differentiable():
    params = {"net": KNOWN, "turns": 3.0}

    def apply(p, x):
        grown = jax.lax.while_loop(lambda v: v < 20.0, lambda v: 2 * v, p["turns"])
        return grown * dense_apply(p["net"], x)

    some = {"net": True, "turns": False}
    found = tl.gram(apply, params, X, trainable=some)
    np.testing.assert_allclose(found, 24.0**2 * tl.gram(dense_apply, KNOWN, X))
    product = tl.kernel_product(apply, params, X, None, CAPTURED, trainable=some)
    np.testing.assert_allclose(product, found @ CAPTURED, rtol=1e-10)


def test_a_large_array_that_a_network_captured():
    held = jnp.ones((2**19, 5))  # is hashed in several blocks

    def apply(params, x):
        return dense_apply(params, x) * held[:1, :1]

    found = jax.jit(lambda p: tl.gram(apply, p, X))(KNOWN)
    np.testing.assert_allclose(found, tl.gram(dense_apply, KNOWN, X), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
@pytest.mark.parametrize("across", [False, True])
def test_products_of_known_samples_are_not_computed_by_the_compiler(across, dtype):
    """XLA would, on one core and for minutes, before a kernel of 2,000 images runs."""
    x = np.random.default_rng(1).uniform(0, 9, size=(45, 3)).astype(dtype)
    x_2 = x[:4] + dtype(1) if across else None
    n, m = len(x), len(x if x_2 is None else x_2)

    def apply(p, x):
        return dense_apply(p, jnp.asarray(x, jnp.float64) / 9.0)

    def energy(p):
        return tl.gram(apply, p, x, x_2).sum()

    kernel = jax.jit(lambda p: tl.gram(apply, p, x, x_2))
    text = kernel.lower(KNOWN).compile().as_text() or ""
    assert f"[{n},{m}]" in text
    assert not re.search(rf"\[({n},{m}|{m},{n})\]\S* constant", text)
    compare = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-10)
    compare(kernel(KNOWN), tl.gram(apply, KNOWN, x, x_2))
    slopes = (made(KNOWN) for made in (jax.jit(jax.grad(energy)), jax.grad(energy)))
    jax.tree.map(compare, *slopes)
