import importlib.util
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import theory
from tests.helpers import assert_close, jacobian_gram
from tests.theory.problems import normal, two_layer_weights

COSINES = [-0.999, -0.7, 0.0, 0.3, 0.9, 0.9999]


def pair(cosine, sizes=(1.0, 1.0)):
    first = np.array([[1.0, 0.0]]) * sizes[0]
    second = np.array([[cosine, np.sqrt(1 - cosine**2)]]) * sizes[1]
    return first, second


@pytest.mark.parametrize("cosine", COSINES)
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_closed_form_is_the_integral(cosine, degree):
    value = theory.arccosine_kernel(*pair(cosine), degree=degree)[0, 0]
    integral = theory.relu_expectation(cosine, degree)
    assert float(value) == pytest.approx(integral, abs=1e-11)


def test_integral_is_the_expectation_by_monte_carlo():
    w = np.random.default_rng(0).normal(size=(400_000, 2))
    x, y = pair(0.3)
    for degree in (0, 1, 2):
        both = np.where(w @ x.T > 0, w @ x.T, 0.0) * np.where(w @ y.T > 0, w @ y.T, 0.0)
        draws = (both > 0) * both**degree
        error = draws.std() / np.sqrt(len(draws))
        integral = theory.relu_expectation(0.3, degree)
        assert abs(draws.mean() - integral) < 4 * error


def test_kernels_scale_with_the_norms():
    for degree in (0, 1, 2):
        large = theory.arccosine_kernel(*pair(0.3, (2.0, 5.0)), degree=degree)
        unit = theory.arccosine_kernel(*pair(0.3), degree=degree)
        assert_close(large, 10.0**degree * unit)


def test_coincident_opposite_and_zero_inputs_are_exact():
    x = normal(0, 40, 30)
    kernel = theory.arccosine_kernel(x, degree=0)
    assert jnp.diagonal(kernel).tolist() == [0.5] * 40  # no square root of rounding
    assert float(theory.arccosine_kernel(x, -x, degree=0)[0, 0]) == 0.0
    assert theory.first_layer_kernel(jnp.zeros((1, 30)), x).tolist() == [[0.0] * 40]
    assert theory.arccosine_kernel(jnp.zeros((1, 3)), degree=0).tolist() == [[0.0]]


def test_first_layer_kernel_is_the_limit_of_finite_networks():
    x = normal(0, 4, 3)

    def finite(W):  # x x' / m times the number of units that are active at both
        active = np.asarray(x) @ W.T > 0
        return np.asarray(x @ x.T) * (active[:, None] & active[None]).mean(axis=-1)

    a, W_0 = two_layer_weights(0, 30, 3)
    found = jacobian_gram(theory.two_layer(a), W_0, x)[:, 0, :, 0]
    assert_close(found, finite(np.asarray(W_0)))
    rng, limit = np.random.default_rng(0), theory.first_layer_kernel(x)
    errors = [
        np.mean([(finite(rng.normal(size=(m, 3))) - limit) ** 2 for _ in range(20)])
        for m in (100, 10_000)
    ]
    assert np.sqrt(errors[1]) < 0.02 * float(limit.max())
    assert 7 < np.sqrt(errors[0] / errors[1]) < 14  # the square root of widths


def test_both_layers_kernel_is_the_limit_and_half_of_the_slide():
    xi = jnp.array([-0.7, 0.0, 0.3, 0.9, 1.0])
    x = jnp.stack([xi, jnp.sqrt(1 - xi**2)], axis=1)
    kernel = theory.both_layers_kernel(x[-1:], x)[0]
    np.testing.assert_allclose(kernel, theory.relu_kernel_function(xi), atol=1e-12)
    slide = 2 * xi * (jnp.pi - jnp.arccos(xi)) / jnp.pi + jnp.sqrt(1 - xi**2) / jnp.pi
    assert_close(kernel, slide / 2)
    for cosine, value in zip(xi[:-1], kernel[:-1], strict=True):
        integrals = [theory.relu_expectation(float(cosine), k) for k in (0, 1)]
        wanted = float(cosine) * integrals[0] + integrals[1]
        assert float(value) == pytest.approx(wanted, abs=1e-10)
    params = {"a": normal(0, 20_000), "W": normal(1, 20_000, 2)}
    finite = jacobian_gram(theory.two_layer_both(), params, x)[-1, 0, :, 0]
    np.testing.assert_allclose(finite, kernel, atol=0.04)


def test_cosines_that_rounding_moved_out_are_ends():
    eps = np.finfo(np.float64).eps
    found = theory.relu_kernel_function(np.array([-1 - eps, 1 - eps, 1 + 2 * eps, 1.1]))
    np.testing.assert_array_equal(found, [0.0, 1.0, 1.0, np.nan])


def test_one_dimensional_kernel_has_two_features():
    x = normal(0, 9)
    kernel = theory.one_dimensional_kernel(x)
    assert_close(kernel, theory.both_layers_kernel(x[:, None]))
    sizes = jnp.linalg.svd(theory.both_layers_kernel(x[:, None]), compute_uv=False)
    assert float(sizes[2]) < 1e-12 * float(sizes[0]) < float(sizes[1])
    biased = jnp.stack([x, jnp.ones(9)], axis=1)
    assert np.linalg.matrix_rank(theory.both_layers_kernel(biased)) == 9


def test_deep_recursion_starts_with_the_two_layer_kernel():
    x = normal(0, 5, 3)
    assert_close(theory.deep_relu_kernels(x, depth=0).ntk, x @ x.T)
    shallow = theory.deep_relu_kernels(x, depth=1)
    assert_close(shallow.ntk, 2 * theory.both_layers_kernel(x))
    assert_close(shallow.nngp, 2 * theory.arccosine_kernel(x, degree=1))


def test_deep_recursion_matches_wide_networks():
    def apply(params, x):
        *hidden, last = params
        for w in hidden:
            x = jax.nn.relu(x @ w) * (2 / w.shape[1]) ** 0.5
        return x @ last

    x = normal(0, 3, 3)
    width, wanted = 300, theory.deep_relu_kernels(x, depth=2)
    shapes = [(3, width), (width, width), (width, 1)]
    rng, gram = np.random.default_rng(0), jax.jit(partial(jacobian_gram, apply))
    found = np.stack(
        [gram([rng.normal(size=s) for s in shapes], x)[:, 0, :, 0] for _ in range(16)]
    )
    error = found.std(axis=0, ddof=1) / 4
    off = np.abs(found.mean(axis=0) - wanted.ntk)
    assert (off < 4 * error + 0.02 * float(wanted.ntk.max())).all()


def test_kernel_at_the_origin_is_linear():
    x = normal(0, 4, 3)
    a, W = two_layer_weights(0, 6, 3)
    found = jacobian_gram(theory.two_layer(a, jax.nn.softplus), 0 * W, x)
    assert_close(found[:, 0, :, 0], theory.origin_kernel(x, slope=0.5))


def test_kernels_run_under_jit_and_in_float32():
    x = normal(0, 4, 3).astype(jnp.float32)
    compiled = jax.jit(theory.both_layers_kernel)(x)
    assert compiled.dtype == jnp.float32
    np.testing.assert_allclose(compiled, theory.both_layers_kernel(x), rtol=1e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("tangentlab.infinite") is None,
    reason="there is no stage of infinite networks",
)
def test_closed_form_agrees_with_infinite_layers():
    infinite = importlib.import_module("tangentlab.infinite")
    x = normal(0, 5, 3)
    layer = infinite.serial(infinite.Dense(1), infinite.Relu(), infinite.Dense(1))
    assert_close(layer.kernel(x).ntk, theory.both_layers_kernel(x) / 3)


def test_other_degrees_and_depths_are_refused():
    x = jnp.ones((1, 2))
    with pytest.raises(ValueError, match="`degree` must be 0, 1 or 2, got 3"):
        theory.arccosine_kernel(x, degree=3)
    with pytest.raises(ValueError, match="`depth` must be 0 or more hidden layers"):
        theory.deep_relu_kernels(x, depth=-1)
    with pytest.raises(ValueError, match="`cosine` must be strictly between -1 and 1"):
        theory.relu_expectation(1.0, 1)


@pytest.mark.parametrize("x", [np.ones(3), np.ones((2, 3, 4))])
def test_inputs_are_rows(x, no_type_checks):
    with pytest.raises(ValueError, match=r"must hold inputs as rows, \(n, d\), got"):
        theory.first_layer_kernel(x)
