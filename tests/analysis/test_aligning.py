"""Alignment without a Gram matrix is that of the Gram matrix."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.analysis import alignment_forms, gram_alignment, weighted_gradients
from tangentlab.analysis.weighted_gradients import energies_by_leaf
from tangentlab.kernels.matrix_free import routes
from tangentlab.kernels.request import Request
from tests.helpers import is_real, leaf_jacobians
from tests.kernels.cases import promotion
from tests.kernels.oracle import (
    BFLOAT16,
    DOUBLE,
    assert_agrees,
    leaf_kernels,
    mean_over_outputs,
)
from tests.kernels.table import CASES, FEW
from tests.networks import dense_apply

from .problems import (
    SHAPE,
    N,
    conv_apply,
    conv_params,
    mean_kernel,
    network,
    on_disk,
    positive,
    vectors,
)

TARGETS = vectors(1, N, 4)  # enough for the route through gradients


def forms(K, f):
    """The three forms, written down."""
    energy, n = np.einsum("nk,nm,mk->k", f, K, f), len(K)
    own = (f**2 * np.diag(K)[:, None]).sum(0)
    return energy / n**2, (energy - own) / (n * (n - 1)), energy / (f**2).sum(0)


@pytest.mark.parametrize(
    ("num_outputs", "num_targets"), [(1, 1), (1, 4), (3, 1), (3, 4)]
)
def test_all_forms_match_the_dense_kernel(num_outputs, num_targets):
    params, x, full = network(0, num_outputs)
    f = TARGETS[:, :num_targets]
    found = alignment_forms(dense_apply, params, x, f)
    expected = forms(mean_kernel(full), f)
    for ours, dense in zip(
        (found.biased, found.unbiased, found.rayleigh), expected, strict=True
    ):
        np.testing.assert_allclose(ours, dense, rtol=1e-10)
    np.testing.assert_allclose(
        tl.alignment(dense_apply, params, x, f), expected[0], rtol=1e-10
    )


@pytest.mark.parametrize("seed", range(3))
def test_lemma_1_two_routes_agree(seed):
    params, x, full = network(seed)
    K, f = mean_kernel(full), vectors(seed, N, 5)
    J = np.asarray(tl.jacobian(dense_apply, params, x))[:, 0]
    means = J.T @ f / N  # averaged gradients
    np.testing.assert_allclose(
        tl.alignment(dense_apply, params, x, f), (means**2).sum(0), rtol=1e-10
    )
    np.testing.assert_allclose((means**2).sum(0), forms(K, f)[0], rtol=1e-10)


def test_alignment_of_an_eigenfunction_is_its_mercer_eigenvalue():
    params, x, full = network()
    spectrum = tl.spectrum(mean_kernel(full))
    phi = np.sqrt(N) * spectrum.eigenvectors
    found = alignment_forms(dense_apply, params, x, phi)
    np.testing.assert_allclose(found.biased, spectrum.mercer, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.rayleigh, spectrum.eigenvalues, rtol=1e-9)


def test_the_unbiased_form_has_no_bias():
    """The mean over many small samples is the alignment of the population."""
    K, f = positive(2, 40), vectors(3, 40, 1)
    whole = (f.T @ K @ f).item() / 40**2
    rng, biased, unbiased = np.random.default_rng(0), [], []
    for _ in range(4000):
        some = rng.integers(40, size=6)  # with replacement: independent samples
        found = gram_alignment(K[np.ix_(some, some)], f[some])
        biased.append(found.biased.item())
        unbiased.append(found.unbiased.item())
    error = np.std(unbiased) / len(unbiased) ** 0.5
    assert abs(np.mean(unbiased) - whole) < 4 * error
    assert np.mean(biased) - whole > 10 * error


@pytest.mark.parametrize("num_targets", [2, 3])
def test_each_parameter_has_its_part(num_targets):
    """A backward pass for each of two targets, single gradients for three."""
    params = {"net": conv_params(2), "order": jnp.array([2, 0, 1])}

    def apply(params, x):
        return conv_apply(params["net"], x[:, params["order"]])

    x, f = vectors(8, 5, *SHAPE), vectors(9, 5, num_targets)
    found = energies_by_leaf(apply, params, jnp.asarray(x), f, Request())
    jacobians = jax.jit(partial(leaf_jacobians, apply, params))(x)
    expected = [np.einsum("ncp,nk->kcp", J, f) for J in jacobians]
    expected = np.stack([(sums**2).sum((1, 2)) / 2 for sums in expected])
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-10)
    assert not found[-1].any()  # a buffer


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_each_parameters_part_on_the_table_of_networks(name):
    case = CASES[name]()
    leaves, n = leaf_kernels(name), len(jax.tree.leaves(case.x)[0])
    f = vectors(4, n, 4)
    with promotion("relaxed" in case.tags):
        request = Request(trainable=case.trainable, scale=case.scale)
        found = energies_by_leaf(case.apply, case.params, case.x, f, request)
    kernels = [mean_over_outputs(full[:, :, :n]) for full in leaves]
    expected = np.stack([np.einsum("nk,nm,mk->k", f, K, f) for K in kernels])
    real = np.array([is_real(leaf) for leaf in jax.tree.leaves(case.params)])
    resolution = BFLOAT16 if "bfloat16" in case.tags else DOUBLE
    assert_agrees(found[real], expected, resolution)
    assert not found[~real].any()


@pytest.mark.parametrize("num_targets", [2, 7])
def test_neither_blocks_of_targets_nor_of_samples_change_anything(
    num_targets, monkeypatch
):
    params, x, _ = network(0, 2)
    f = vectors(5, N, num_targets)
    whole = tl.alignment(dense_apply, params, x, f)
    used = []
    plain = routes.cut

    def small(route, problem, num, memory):
        assert plain(route, problem, num, memory) is not None
        used.append(num)
        return routes.Cut(width=3, chunk=4)

    monkeypatch.setattr(weighted_gradients, "cut", small)
    np.testing.assert_allclose(
        tl.alignment(dense_apply, params, x, f), whole, rtol=1e-12
    )
    assert used  # 11 samples in chunks of 4, lanes in blocks of 3


def test_little_memory_means_few_targets_at_once_and_then_a_message():
    params, x, _ = network()
    f = vectors(6, N, 50)
    whole = tl.alignment(dense_apply, params, x, f)
    little = tl.alignment(dense_apply, params, x, f, memory=40_000)
    np.testing.assert_allclose(little, whole, rtol=1e-12)
    with pytest.raises(ValueError, match="does not fit 100 B"):
        tl.alignment(dense_apply, params, x, f, memory=100)


def test_one_target_is_a_vector_or_a_column():
    params, x, _ = network()
    column = tl.alignment(dense_apply, params, x, TARGETS[:, :1])
    single = tl.alignment(dense_apply, params, x, TARGETS[:, 0])
    assert single.shape == () and column.shape == (1,)
    assert single == column[0]


def test_under_jit():
    params, x, full = network()
    K = mean_kernel(full)
    f = jnp.asarray(TARGETS)
    found = jax.jit(partial(alignment_forms, dense_apply))(params, x, f)
    of_gram = jax.jit(gram_alignment)(jnp.asarray(K), f)
    for made in (found, of_gram):
        parts = made.biased, made.unbiased, made.rayleigh
        for ours, dense in zip(parts, forms(K, TARGETS), strict=True):
            np.testing.assert_allclose(ours, dense, rtol=1e-10)


def test_a_float32_network_in_float64():
    params, x, _ = network()
    params, x = jax.tree.map(lambda a: a.astype(jnp.float32), (params, x))
    f = TARGETS.astype(np.float32)
    wide = tl.alignment(dense_apply, params, x, f, precision="float64")
    narrow = tl.alignment(dense_apply, params, x, f)
    K = np.asarray(tl.gram(dense_apply, params, x, precision="float64"))
    np.testing.assert_allclose(wide, forms(K, f.astype(float))[0], rtol=1e-12)
    np.testing.assert_allclose(narrow, wide, rtol=1e-5)
    assert np.abs(narrow - wide).max() > 0


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**16), scale=st.floats(1e-3, 1e3))
def test_forms_scale_and_do_not_depend_on_the_order_of_samples(seed, scale):
    K, f = positive(seed), vectors(seed, N, 2)
    order = np.random.default_rng(seed).permutation(N)
    plain, moved = (
        gram_alignment(*pair) for pair in ((K, f), (K[order][:, order], f[order]))
    )
    scaled, stretched = gram_alignment(scale * K, f), gram_alignment(K, scale * f)
    for name in ("biased", "unbiased", "rayleigh"):
        here = getattr(plain, name)
        np.testing.assert_allclose(getattr(moved, name), here, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(getattr(scaled, name), scale * here, rtol=1e-9)
    np.testing.assert_allclose(stretched.biased, scale**2 * plain.biased, rtol=1e-9)
    np.testing.assert_allclose(stretched.rayleigh, plain.rayleigh, rtol=1e-9)


def test_a_gram_matrix_on_disk(tmp_path):
    K = positive(7).astype(np.float32)
    found, here = (
        gram_alignment(on_disk(tmp_path, K), TARGETS),
        gram_alignment(K, TARGETS),
    )
    np.testing.assert_allclose(found.biased, here.biased, rtol=1e-12)
    np.testing.assert_allclose(found.unbiased, here.unbiased, rtol=1e-12)


def test_what_has_no_value_is_nan():
    single = gram_alignment(np.array([[2.0]]), np.array([[3.0]]))
    assert single.biased == 18 and single.rayleigh == 2 and np.isnan(single.unbiased)
    assert np.isnan(gram_alignment(np.eye(3), np.zeros(3)).rayleigh)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (np.ones((8, 2)), r"\(11, k\), got shape \(8, 2\)"),
        (np.ones((11, 0)), r"\(11, k\), got shape \(11, 0\)"),
        (np.ones(11, int), "labels 0 and 1 become"),
        (np.full(11, np.nan), "or a target is"),
    ],
)
def test_alignment_refuses_what_it_cannot_measure(targets, message, no_type_checks):
    params, x, _ = network()
    with pytest.raises(ValueError, match=message):
        tl.alignment(dense_apply, params, x, targets)


def test_an_output_that_is_not_there(no_type_checks):
    params, x, full = network(0, 3)
    found = tl.alignment(dense_apply, params, x, TARGETS, outputs=1)
    np.testing.assert_allclose(found, forms(full[:, 1, :, 1], TARGETS)[0], rtol=1e-10)
    with pytest.raises(ValueError, match='`outputs` must be "mean"'):
        tl.alignment(dense_apply, params, x, TARGETS, outputs="full")  # pyright: ignore
