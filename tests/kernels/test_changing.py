"""A function that reads what changes has another kernel then."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import assert_close, jacobian_gram
from tests.networks import dense_params

PARAMS = dense_params(jax.random.key(0), (3, 4, 1))
X = np.random.default_rng(0).normal(size=(6, 3))
V = np.random.default_rng(1).normal(size=(6, 5))


class Frozen:
    """A network that keeps its statistics beside its parameters."""

    def __init__(self):
        self.mean = np.zeros(4)

    def apply(self, params, x):
        first, second = params
        shift = first["b"] - jnp.asarray(self.mean)
        return jnp.tanh(x @ first["w"] + shift[None]) @ second["w"]


def by_parameter(apply, params, x):
    return sum(jax.tree.leaves(tl.gram_by_parameter(apply, params, x)))


WAYS = {
    "gram": lambda f, p, x, K: (tl.gram(f, p, x), K),
    "float64": lambda f, p, x, K: (tl.gram(f, p, x, precision="float64"), K),
    "full": lambda f, p, x, K: (tl.gram_full(f, p, x)[:, 0, :, 0], K),
    "diagonal": lambda f, p, x, K: (tl.gram_diagonal(f, p, x), np.diagonal(K)),
    "by parameter": lambda f, p, x, K: (by_parameter(f, p, x), K),
    "one vector": lambda f, p, x, K: (
        tl.kernel_product(f, p, x, None, V[:, 0]),
        K @ V[:, 0],
    ),
    "vectors": lambda f, p, x, K: (tl.kernel_product(f, p, x, None, V), K @ V),
    "alignment": lambda f, p, x, K: (
        tl.alignment(f, p, x, V[:, 0]),
        V[:, 0] @ K @ V[:, 0] / 36,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_an_object_holds(way):
    network = Frozen()
    for shift in (0.0, 1.0, -0.5):
        network.mean[:] = shift  # in place
        dense = np.asarray(jacobian_gram(network.apply, PARAMS, X))[:, 0, :, 0]
        found, expected = WAYS[way](network.apply, PARAMS, X, dense)
        assert_close(np.asarray(found), np.asarray(expected))


def test_a_rule_of_its_own_derivative():
    slope = [1.0]

    @jax.custom_vjp
    def step(z):
        return (z > 0).astype(z.dtype)

    step.defvjp(lambda z: (step(z), z), lambda z, g: (g * slope[0] * jnp.exp(-(z**2)),))

    def apply(params, x):
        return step(x @ params["w"]) @ jnp.ones((4, 1))

    params = PARAMS[0]
    first = tl.gram(apply, params, X)
    slope[0] = 3.0
    assert_close(np.asarray(tl.gram(apply, params, X)), 9 * np.asarray(first))


def test_a_folder_has_the_numbers_of_what_it_says(tmp_path):
    network = Frozen()
    tl.gram(network.apply, PARAMS, X)
    network.mean = np.ones(4)
    K = tl.gram(network.apply, PARAMS, X, store=tmp_path)
    dense = np.asarray(jacobian_gram(network.apply, PARAMS, X))[:, 0, :, 0]
    assert_close(K.to_array(), dense)
    network.mean = np.zeros(4)
    with pytest.raises(ValueError, match="network"):
        tl.gram(network.apply, PARAMS, X, store=tmp_path)


def calling_python(scale):
    """A network with a function of numpy in it, which only its address tells apart."""

    def apply(params, x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        scaled = jax.pure_callback(
            lambda v: np.asarray(v * scale),
            shape,
            jax.lax.stop_gradient(x),
            vmap_method="broadcast_all",
        )
        return jnp.tanh(scaled @ params["w"])

    return apply


@pytest.mark.parametrize("way", WAYS)
def test_what_calls_python(way):
    scale = [1.0]
    params = PARAMS[0]

    def apply(params, x):
        return calling_python(scale[0])(params, x)[:, :1]

    def plain(params, x):
        return jnp.tanh(scale[0] * x @ params["w"])[:, :1]

    for scale[0] in (1.0, 3.0):
        dense = np.asarray(jacobian_gram(plain, params, X))[:, 0, :, 0]
        found, expected = WAYS[way](apply, params, X, dense)
        assert_close(np.asarray(found), np.asarray(expected))


def test_a_folder_warns_of_what_it_cannot_tell(tmp_path, recwarn):
    first = tl.gram(calling_python(1.0), PARAMS[0], X, store=tmp_path).to_array()
    assert not [each for each in recwarn if "calls Python" in str(each.message)]
    with pytest.warns(UserWarning, match="calls Python .*choose another folder"):
        again = tl.gram(calling_python(3.0), PARAMS[0], X, store=tmp_path)
    np.testing.assert_array_equal(again.to_array(), first)
