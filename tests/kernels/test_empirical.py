import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tests.helpers import assert_close, jacobian_gram
from tests.networks import dense_apply, dense_params


def _problem(seed, outputs=1, n=7, m=4):
    keys = jax.random.split(jax.random.key(seed), 3)
    params = dense_params(keys[0], (3, 5, outputs))
    return (
        params,
        jax.random.normal(keys[1], (n, 3)),
        jax.random.normal(keys[2], (m, 3)),
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("outputs", [1, 4])
def test_gram_is_the_mean_of_diagonal_blocks(seed, outputs):
    params, x_1, x_2 = _problem(seed, outputs)
    full = jacobian_gram(dense_apply, params, x_1, x_2)
    mean = jnp.einsum("acbc->ab", full) / outputs
    assert_close(tl.gram(dense_apply, params, x_1, x_2), mean)


def test_gram_of_several_logits_by_choice():
    params, x, _ = _problem(0, outputs=3)
    full = jacobian_gram(dense_apply, params, x)
    assert_close(tl.gram(dense_apply, params, x, outputs=1), full[:, 1, :, 1])
    assert_close(tl.gram(dense_apply, params, x, outputs="sum"), full.sum(axis=(1, 3)))
    K = tl.gram(dense_apply, params, x, outputs=lambda f: f[:, 0] - 2 * f[:, 2])
    difference = jnp.array([1.0, 0.0, -2.0])
    assert_close(K, jnp.einsum("acbd,c,d->ab", full, difference, difference))


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 99))
def test_gram_is_positive_semidefinite_and_permutes_with_samples(seed):
    params, x, _ = _problem(seed)
    K = tl.gram(dense_apply, params, x)
    lam = jnp.linalg.eigvalsh(K)
    assert lam[0] > -1e-12 * lam[-1]
    order = np.random.default_rng(seed).permutation(len(x))
    assert_close(tl.gram(dense_apply, params, x[order]), K[order][:, order])


def test_layers_add_up_and_scale_weighs_them():
    params, x, _ = _problem(0)
    whole = tl.gram(dense_apply, params, x)
    first = tl.gram(dense_apply, params, x, trainable=[True, False])
    last = tl.gram(dense_apply, params, x, trainable=[False, True])
    assert_close(first + last, whole)
    assert_close(
        tl.gram(dense_apply, params, x, scale=[2.0, 0.5]), 2 * first + 0.5 * last
    )


def test_inputs_may_be_a_tree():
    params, x, _ = _problem(0)
    K = tl.gram(lambda p, x: dense_apply(p, x["a"]), params, {"a": x})
    assert_close(K, tl.gram(dense_apply, params, x))


def test_float32_stays_float32():
    params, x, _ = _problem(0)
    params = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params)
    assert tl.gram(dense_apply, params, x.astype(jnp.float32)).dtype == jnp.float32


def test_gram_works_under_jit():
    params, x, _ = _problem(0)
    K = jax.jit(lambda p, x: tl.gram(dense_apply, p, x))(params, x)
    assert_close(K, tl.gram(dense_apply, params, x))


@pytest.mark.parametrize("outputs", ["max", 3, -4])
def test_unknown_outputs_raise(outputs, no_type_checks):
    params, x, _ = _problem(0, outputs=3)
    with pytest.raises(ValueError, match="index of one of the 3 logits"):
        tl.gram(dense_apply, params, x, outputs=outputs)


def test_empty_samples_raise():
    params, x, _ = _problem(0)
    with pytest.raises(ValueError, match="`x_2` is empty"):
        tl.gram(dense_apply, params, x, x[:0])


def test_mixing_samples_is_refused():
    params, x, _ = _problem(0)
    with pytest.raises(ValueError, match="mixes examples"):
        tl.gram(lambda p, x: dense_apply(p, x - x.mean(0)[None]), params, x)


def test_a_function_of_the_logits_must_give_one_number_per_sample():
    params, x, _ = _problem(0, outputs=3)
    with pytest.raises(ValueError, match=r"mapped \(1, 3\) to \(1, 2\)"):
        tl.gram(dense_apply, params, x, outputs=lambda f: f[:, :2])


@pytest.mark.parametrize("under_jit", [False, True])
def test_a_function_of_the_logits_must_not_mix_samples(under_jit):
    params, x, _ = _problem(0, outputs=3)

    def centered(params, x):
        return tl.gram(dense_apply, params, x, outputs=lambda f: f[:, 0] - f.mean())

    with pytest.raises(ValueError, match="each row .* by itself.*reduce along axis 1"):
        (jax.jit(centered) if under_jit else centered)(params, x)


@pytest.mark.parametrize("bad", [-1.0, float("nan")])
def test_impossible_multipliers_raise(bad):
    params, x, _ = _problem(0)
    with pytest.raises(ValueError, match="negative multiplier or NaN"):
        tl.gram(dense_apply, params, x, scale=bad)


def test_trainable_must_be_boolean():
    params, x, _ = _problem(0)
    with pytest.raises(ValueError, match="must hold booleans, got 'no': pass True or"):
        tl.gram(dense_apply, params, x, trainable="no")


def test_booleans_are_not_an_index():
    params, x, _ = _problem(0, outputs=3)
    with pytest.raises(ValueError, match="`outputs` must not be True: pass the index"):
        tl.gram(dense_apply, params, x, outputs=True)


def test_an_example_without_a_finite_gradient_is_named():
    params, x, x_2 = _problem(0)
    root = {"net": params, "b": jnp.zeros(1)}

    def apply(p, x):  # the slope of a square root at zero is infinite
        below = jnp.where(x[:, :1] > 1e6, 0.0, 1.0)
        return dense_apply(p["net"], x) + jnp.sqrt(jnp.abs(p["b"][None] + below))

    bad = x.at[5, 0].set(1e7)
    with pytest.raises(ValueError, match="example 5 of `x_1`"):
        tl.gram(apply, root, bad)
    with pytest.raises(ValueError, match="example 5 of `x_2`"):
        tl.gram(apply, root, x_2, bad)
    with pytest.raises(ValueError, match="example 5 of `x_1`"):
        tl.gram_diagonal(apply, root, bad)


def test_a_kernel_that_overflows_is_told_from_a_gradient_that_does():
    x, w = jnp.array([[1e25], [1.0]], jnp.float32), jnp.ones((1, 1), jnp.float32)
    pair = "example 0 of `x_1` with example 0 of `x_1`"
    with pytest.raises(ValueError, match=f'overflows for {pair}.* precision="float64"'):
        tl.gram(lambda w, x: x @ w, w, x)


def test_too_little_memory_says_what_is_needed():
    params, x, _ = _problem(0)
    with pytest.raises(ValueError, match=r"does not fit 1 B: at least"):
        tl.gram(dense_apply, params, x, memory=1)


@pytest.mark.parametrize("precision", ["double", "float16"])
def test_unknown_precisions_raise(precision, no_type_checks):
    params, x, _ = _problem(0)
    with pytest.raises(ValueError, match="Known: fast, float32, float64, high"):
        tl.gram(dense_apply, params, x, precision=precision)


def test_float64_may_be_asked_for():
    params, x, _ = _problem(0)
    exact = tl.gram(dense_apply, params, x)
    half = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params)
    x32 = x.astype(jnp.float32)
    asked = tl.gram(dense_apply, half, x32, precision="float64")
    assert asked.dtype == jnp.float64
    assert 0 < float(jnp.abs(asked - exact).max() / exact.max()) < 1e-6
    wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), half)
    reference = tl.gram(dense_apply, wide, x32.astype(jnp.float64))
    np.testing.assert_allclose(asked, reference, rtol=1e-12)


def test_a_diagonal_needs_no_room_for_a_matrix(monkeypatch):
    """A hundred thousand samples, whose Gram matrix would take 75 GiB."""
    monkeypatch.setattr("tangentlab.kernels.planning.free_memory", lambda: 2**26)
    x = jnp.arange(200_000.0).reshape(100_000, 2)
    found = tl.gram_diagonal(lambda w, x: x @ w, jnp.ones((2, 1)), x)
    assert_close(found, (x**2).sum(axis=1))
