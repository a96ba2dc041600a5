import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.kernels import jacobian
from tests.helpers import assert_close
from tests.networks import dense_apply, dense_params


def test_rows_are_gradients_in_leaf_order(getkey):
    params, x = dense_params(getkey(), (3, 4, 2)), jax.random.normal(getkey(), (5, 3))
    J = jacobian(dense_apply, params, x)
    for i in range(5):
        for c in range(2):
            gradient = jax.grad(lambda p, i=i, c=c: dense_apply(p, x)[i, c])(params)
            flat = jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(gradient)])
            assert_close(J[i, c], flat)


def test_untrainable_columns_are_left_out(getkey):
    params, x = dense_params(getkey(), (3, 4, 1)), jax.random.normal(getkey(), (5, 3))
    J = jacobian(dense_apply, params, x)
    last = jacobian(dense_apply, params, x, trainable=[False, True])
    assert_close(last, J[:, :, -last.shape[2] :])
    assert last.shape[2] == 4 + 1


def test_scale_multiplies_the_kernel_not_its_root(getkey):
    params, x = dense_params(getkey(), (3, 4, 1)), jax.random.normal(getkey(), (5, 3))
    J = jacobian(dense_apply, params, x)[:, 0]
    scaled = jacobian(dense_apply, params, x, scale=[0.0, 9.0])[:, 0]
    kept = J[:, -5:]
    assert_close(scaled @ scaled.T, 9 * kept @ kept.T)


def test_scale_may_be_an_array_for_each_parameter(getkey):
    w, x = jax.random.normal(getkey(), (3, 1)), jax.random.normal(getkey(), (4, 3))
    s = jnp.array([[1.0], [4.0], [0.0]])
    J = jacobian(lambda w, x: x @ w, w, x, scale=s)[:, 0]
    assert_close(J @ J.T, (x * s[:, 0][None]) @ x.T)


def test_integer_leaves_have_no_columns(getkey):
    params = {"w": jax.random.normal(getkey(), (3, 1)), "order": jnp.array([2, 0, 1])}
    x = jax.random.normal(getkey(), (4, 3))
    J = jacobian(lambda p, x: x[:, p["order"]] @ p["w"], params, x)
    assert_close(J[:, 0], x[:, params["order"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trainable": False}, "Nothing to differentiate"),
        ({"trainable": [True]}, "`trainable` must have the structure of `params`"),
        ({"scale": {"w": 1.0}}, "`scale` must have the structure of `params`"),
        ({"scale": -1.0}, "negative multiplier"),
    ],
)
def test_wrong_selections_raise(getkey, arguments, message):
    params = dense_params(getkey(), (3, 4, 1))
    with pytest.raises(ValueError, match=message):
        jacobian(dense_apply, params, np.ones((2, 3)), **arguments)
