"""Every plan is compared with plain gradients before it runs."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels import features, verifying

X = np.random.default_rng(0).normal(size=(6, 3))


def _params(dtype=jnp.float64):
    draw = np.random.default_rng(1).normal
    return {
        "first": jnp.asarray(draw(size=(3, 4)), dtype),
        "second": jnp.asarray(draw(size=(4, 1)), dtype),
    }


def _network():
    """A function of its own, of which nothing is remembered."""
    return lambda p, x: jnp.tanh(x @ p["first"]) @ p["second"]


@pytest.fixture
def compared(monkeypatch):
    """Types in which kernels were compared, one entry a comparison."""
    kernels, seen = verifying._kernels, []

    def spy(network, features, x, values):
        seen.append(x[0].dtype)
        return kernels(network, features, x, values)

    monkeypatch.setattr(verifying, "_kernels", spy)
    return seen


@pytest.fixture
def mistaken(monkeypatch):
    """Inputs of the first parameter are a hundredth too large."""
    outer = features._outer

    def wrong(source, piece, values, factors):
        A, D = outer(source, piece, values, factors)
        return (A * 1.01, D) if piece.leaf == 0 else (A, D)

    monkeypatch.setattr(features, "_outer", wrong)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_a_wrong_kernel_is_refused_in_float64_by_name(dtype, compared, mistaken):
    x = jnp.asarray(X, dtype)
    with pytest.raises(RuntimeError, match=r"kernel of \['first'\] differs .* report"):
        tl.gram(_network(), _params(dtype), x)
    assert compared == [dtype, jnp.float64]


OFFSET = np.array([[0.5, -0.1, 0.2, 0.3]], np.float32)


@pytest.mark.parametrize(
    "network",
    [
        _network(),
        lambda p, x: jax.nn.relu(x @ p["first"]) @ p["second"],
        lambda p, x: jnp.tanh(x @ p["first"] - OFFSET.astype(x.dtype)) @ p["second"],
        lambda p, x: (
            jax.lax.cond(
                p["first"][0, 0] > 0,
                lambda h: jax.nn.relu(h),
                lambda h: jnp.minimum(h, 0),
                x @ p["first"],
            )
            @ p["second"]
        ),
    ],
    ids=["smooth", "own derivative", "constants", "branches"],
)
def test_rounding_is_told_from_a_mistake_in_float64(network, compared, monkeypatch):
    monkeypatch.setattr(verifying, "_ROUGH", 1e-12)  # less than float32 can do
    monkeypatch.setattr(verifying, "_COARSE", 0)
    tl.gram(network, _params(jnp.float32), jnp.asarray(X, jnp.float32))
    assert compared == [jnp.float32, jnp.float64]


def test_a_kernel_that_is_small_beside_others_is_compared_with_its_own_size(mistaken):
    params = _params()
    params["second"] = 0.1 * params["second"]  # which the kernel of the first has twice
    with pytest.raises(RuntimeError, match=r"kernel of \['first'\] differs"):
        tl.gram(_network(), params, X)


def test_a_network_is_compared_once(compared):
    apply = _network()
    tl.gram(apply, _params(), X)
    tl.gram(apply, jax.tree.map(jnp.sin, _params()), X[:4])
    assert len(compared) == 1


def test_what_no_gradient_was_compared_with_is_compared_again(compared):
    def apply(p, x):  # the slope of a square root at zero is infinite
        return jnp.tanh(x @ p["first"]) @ p["second"] + jnp.sqrt(p["root"])

    root = {**_params(), "root": jnp.zeros((1, 1))}
    with pytest.raises(ValueError, match=r"example 0 of `x_1` \(6 in all are affected"):
        tl.gram(apply, root, X)
    tl.gram(apply, {**root, "root": jnp.ones((1, 1))}, X)
    assert len(compared) == 2


@pytest.mark.parametrize("bad", [0, 1])
def test_the_examples_that_are_compared_may_be_those_without_a_gradient(bad):
    def apply(p, x):
        below = jnp.where(x[:, :1] > 1e6, 0.0, 1.0)
        return x @ p["w"] + jnp.sqrt(jnp.abs(p["b"][None] + below))

    params = {"w": jnp.ones((3, 1)), "b": jnp.zeros(1)}
    x = X.copy()
    x[bad, 0] = 1e7
    for function in (tl.gram, tl.gram_full, tl.gram_by_parameter, tl.gram_diagonal):
        with pytest.raises(ValueError, match=f"infinite for example {bad} of `x_1`"):
            function(apply, params, x)


def test_parameters_are_let_go_of_after_a_run():
    model = tl.models.mlp((3,))
    params = model.init(jax.random.key(0))
    tl.gram(model.apply, params, np.ones((4, 3), np.float32))
    kept = weakref.ref(jax.tree.leaves(params)[0])
    del params
    gc.collect()
    assert kept() is None
