"""What is no array is refused in words, or taken for the array that it is."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl

X = np.eye(3, 2)
W = jnp.ones((2, 1))


def apply(w, x):
    return x @ w


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones((200, 2)).tolist(), "`x_1` holds float .* pass `np.asarray"),
        (X.astype(">f4"), "'>f4', whose bytes .*newbyteorder"),
        (X.astype(object), "dtype object: make it one of numbers"),
        ("digits", "`x_1` holds str in the place of arrays"),
    ],
)
def test_samples_that_are_no_arrays(x, message, precision, no_type_checks):
    with pytest.raises(ValueError, match=message) as caught:
        tl.gram(apply, W, x, precision=precision)
    assert len(str(caught.value)) < 300


def test_leaves_that_are_no_arrays(no_type_checks):
    with pytest.raises(TypeError, match=r"`params\['name'\]` is no array, got str"):
        tl.gram(lambda p, x: x @ p["w"], {"w": W, "name": "mlp"}, X)
    module = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))
    with pytest.raises(TypeError, match="`params.activation` is no .*from_equinox"):
        tl.gram(lambda p, x: jax.vmap(p)(x), module, X)


@pytest.mark.parametrize("v", [[1.0, 2.0, 3.0], [[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]])
def test_vectors_may_be_lists(v: Any, no_type_checks):
    expected = tl.kernel_product(apply, W, X, None, np.array(v))
    found = tl.kernel_product(apply, W, X, None, v)
    np.testing.assert_array_equal(found, expected)


def test_batch_statistics_among_the_parameters_are_told(recwarn):
    params = {"params": W, "batch_stats": jnp.ones(2)}

    def centered(p, x):
        return (x - p["batch_stats"][None]) @ p["params"]

    chosen = {"params": True, "batch_stats": False}
    K = tl.gram(centered, params, X, trainable=chosen)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="counts them as parameters.*trainable="):
        assert not np.allclose(tl.gram(centered, params, X), K)
