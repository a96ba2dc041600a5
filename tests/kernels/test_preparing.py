"""What is refused before a kernel is computed, and what is understood."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import tangentlab as tl
from tangentlab.kernels.network import read
from tangentlab.kernels.request import Request
from tests.networks import dense_apply, dense_params

X = np.random.default_rng(0).normal(size=(5, 3))
PARAMS = dense_params(jax.random.key(0), (3, 4, 2))


def averaged(w, x):
    """Fits images of every size, but the number of pixels is one of its constants."""
    return jnp.tanh(x @ w).mean(axis=(1, 2))


@pytest.mark.parametrize("function", [tl.gram, tl.gram_full, tl.gram_by_parameter])
def test_samples_of_two_kinds_are_refused(function, tmp_path):
    w, x = jnp.ones((2, 1)), np.ones((3, 4, 4, 2))
    message = r"`x_2` must be like one of `x_1`, \(4, 4, 2\) float64, got "
    with pytest.raises(ValueError, match=message + r"\(8, 8, 2\) float64: .* reshape"):
        function(averaged, w, x, np.ones((2, 8, 8, 2)))
    with pytest.raises(ValueError, match=message + r"\(4, 4, 2\) float32: .* cast one"):
        function(averaged, w, x, np.ones((2, 4, 4, 2), np.float32))


def test_trees_of_samples_are_told_apart_by_their_names(tmp_path):
    def apply(p, x):
        return dense_apply(p, x["a"] - x["b"])

    x, other = {"a": X, "b": X + 1}, {"b": X, "c": X + 1}
    with pytest.raises(ValueError, match="must be like one of `x_1`, {'a'.*got {'b'"):
        tl.gram(apply, PARAMS, x, other)
    with pytest.raises(ValueError, match="must be like one of `x_1`"):
        tl.gram(apply, PARAMS, x, other, store=tmp_path)


def test_samples_of_two_kinds_are_refused_under_jit():
    with pytest.raises(ValueError, match="must be like one of `x_1`"):
        jax.jit(lambda x, y: tl.gram(averaged, jnp.ones((2, 1)), x, y))(
            np.ones((3, 4, 4, 2)), np.ones((2, 8, 8, 2))
        )


@pytest.mark.parametrize("other", [None, X[:2]], ids=["symmetric", "across"])
def test_float64_of_numpy_is_float32_where_jax_has_nothing_wider(other):
    """As in a notebook: `x` straight from numpy, parameters of JAX."""
    exact = tl.gram(dense_apply, PARAMS, X, other)
    with jax.enable_x64(False):
        params = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), PARAMS)
        x_2 = None if other is None else other.astype(np.float32)
        found = tl.gram(dense_apply, params, X, x_2)
        v = np.ones(len(X if other is None else other))
        product = tl.kernel_product(dense_apply, params, X, x_2, v)
        diagonal = tl.gram_diagonal(dense_apply, params, X)
    assert found.dtype == product.dtype == diagonal.dtype == jnp.float32
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(product, exact @ v, rtol=1e-5, atol=1e-5)
    squares = tl.gram_diagonal(dense_apply, PARAMS, X)
    np.testing.assert_allclose(diagonal, squares, rtol=1e-5)


def _turned(p, x):
    return jnp.abs(lax.complex(x, x) @ p["w"]) * p["g"]


def test_complex_parameters_are_refused_by_name():
    params = {"g": jnp.ones((1, 1)), "w": jnp.ones((3, 1), complex)}
    for function in (tl.gram, tl.gram_diagonal, tl.jacobian):
        with pytest.raises(
            ValueError, match=r"`params\['w'\]` is complex: .* two real"
        ):
            function(_turned, params, X)


def test_complex_buffers_are_none_of_ours():
    params = {"g": jnp.ones((1, 1)), "w": jnp.ones((3, 1), complex)}
    K = tl.gram(_turned, params, X, trainable={"g": True, "w": False})
    sums = np.abs((X + 1j * X).sum(axis=1))
    np.testing.assert_allclose(K, np.outer(sums, sums))


def test_a_parameter_without_elements_has_no_part():
    def apply(p, x):
        return x @ p["w"] + x[:, :0] @ p["none"] + p["empty"].sum()

    params = {"w": jnp.ones((3, 1)), "none": jnp.ones((0, 1)), "empty": jnp.ones(0)}
    np.testing.assert_allclose(tl.gram(apply, params, X), X @ X.T)
    parts = tl.gram_by_parameter(apply, params, X)
    np.testing.assert_allclose(parts["w"], X @ X.T)
    assert not parts["none"].any() and not parts["empty"].any()


def test_parameters_of_two_precisions_give_the_wider():
    def apply(p, x):
        hidden = jnp.tanh(x.astype(jnp.float32) @ p["first"])
        return hidden.astype(jnp.float64) @ p["second"]

    params = {"first": jnp.ones((3, 4), jnp.float32), "second": jnp.ones((4, 1))}
    wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), params)
    found = tl.gram(apply, params, X)
    assert found.dtype == jnp.float64
    exact = tl.gram(lambda p, x: jnp.tanh(x @ p["first"]) @ p["second"], wide, X)
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("memory", [4e9, 0, -1])
def test_memory_is_a_number_of_bytes(memory, no_type_checks):
    with pytest.raises(
        ValueError, match=r"whole number of bytes above 0, got .*10\*\*9"
    ):
        tl.gram(dense_apply, PARAMS, X, memory=memory)


def test_gram_matrices_of_all_parameters_must_fit_together(monkeypatch):
    x = np.random.default_rng(0).normal(size=(200, 3))
    sizes = 200**2 * 8
    monkeypatch.setattr("tangentlab.kernels.planning.free_memory", lambda: 9 * sizes)
    tl.gram_by_parameter(dense_apply, PARAMS[:1], x)
    with pytest.raises(ValueError, match="4 Gram matrices, .*do not fit .* `trainable"):
        tl.gram_by_parameter(dense_apply, PARAMS, x)


def _partly_told(params, x):
    """Products with and without a precision of their own, and one in bfloat16."""
    x = jnp.tanh(jnp.matmul(x, params["told"], precision=lax.Precision.DEFAULT))
    x = jnp.tanh(x @ params["untold"])
    sides = ("NWC", "WIO", "NWC")
    kernel = params["convolved"]
    x = lax.conv_general_dilated(x[..., None], kernel, (1,), "SAME", (1,), (1,), sides)
    low = [a.astype(jnp.bfloat16) for a in (x[..., 0], params["cast"])]
    return (low[0] @ low[1]).astype(jnp.float32)


def test_products_run_in_full_precision_unless_the_network_says_otherwise():
    """A GPU's default is 10 bits of mantissa; on a CPU no number would tell."""
    shapes = {"told": (3, 4), "untold": (4, 5), "convolved": (3, 1, 2), "cast": (5, 1)}
    params = {name: jnp.ones(shape, jnp.float32) for name, shape in shapes.items()}
    network = read(_partly_told, params, X.astype(np.float32), Request())
    program, found = network.source.program, {}
    for equation in program.equations:
        if "precision" in equation.params:
            (weight,) = (
                program.shapes[i].shape
                for i in equation.inputs
                if program.shapes[i].shape in shapes.values()
            )
            found[weight] = equation.params["precision"][0]
            low = weight == shapes["cast"]
            types = {program.shapes[i].dtype.name for i in equation.inputs}
            assert types == {"bfloat16" if low else "float32"}
    wanted = dict.fromkeys(shapes.values(), lax.Precision.HIGHEST)
    assert found == {**wanted, shapes["told"]: lax.Precision.DEFAULT}
