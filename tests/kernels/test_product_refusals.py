"""What a product with a kernel refuses, and which example it blames."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.networks import dense_apply, dense_params


def drawn(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape)


def small(v, x_2=None, outputs: Any = "mean"):
    params, x = dense_params(jax.random.key(0), (3, 5, 2)), drawn(4, 3)
    return tl.kernel_product(dense_apply, params, x, x_2, v, outputs=outputs)


@pytest.mark.parametrize(
    ("shape", "outputs", "message"),
    [
        (
            (3,),
            "mean",
            r"\(m,\) or \(m, k\) for the m = 4 samples of `x_1`, got \(3,\)",
        ),
        ((1, 4), "mean", "rows belong to samples"),
        ((4, 0), "mean", r"got \(4, 0\)"),
        ((4, 2, 3), "mean", 'pass outputs="full"'),
        (
            (4,),
            "full",
            r"\(m, c\) or \(m, c, k\) for the m = 4 samples .* c = 2 logits",
        ),
        ((4, 3), "full", 'leave out outputs="full"'),
        ((4, 2, 3, 1), "full", r"got \(4, 2, 3, 1\)"),
    ],
)
def test_vectors_that_do_not_fit_raise(shape, outputs, message):
    with pytest.raises(ValueError, match=message):
        small(np.ones(shape), outputs=outputs)


def test_vectors_belong_to_the_second_samples():
    with pytest.raises(ValueError, match="m = 6 samples of `x_2`"):
        small(np.ones(4), x_2=drawn(6, 3))


def test_complex_vectors_raise(no_type_checks):
    with pytest.raises(ValueError, match="must be real, got complex128"):
        small(np.ones(4) * 1j)


def test_vectors_that_are_not_finite_raise():
    with pytest.raises(ValueError, match="`v` is NaN or infinite in row 2"):
        small(np.array([1.0, 2.0, np.inf, 3.0]))


@pytest.mark.parametrize("other", [(6, 4), (6, 3, 1)])
def test_samples_of_two_shapes_raise(other):
    with pytest.raises(ValueError, match=r"`x_2` must be like one of `x_1`, .*\(3,\)"):
        small(np.ones(6), x_2=np.ones(other))
    with pytest.raises(ValueError, match="must be like one of `x_1`"):
        small(np.ones(6), x_2={"a": np.ones((6, 3))})


def test_unknown_outputs_raise(no_type_checks):
    with pytest.raises(ValueError, match="index of one of the 2 logits"):
        small(np.ones(4), outputs="all")


def test_networks_that_mix_examples_raise():
    with pytest.raises(ValueError, match="mixes examples"):
        tl.kernel_product(
            lambda w, x: (x - x.mean(0)[None]) @ w,
            jnp.ones((3, 1)),
            drawn(4, 3),
            None,
            np.ones(4),
        )


def steep(params, x):
    """The slope of a square root at zero is infinite."""
    below = jnp.where(x[:, :1] > 1e6, 0.0, 1.0)
    return x[:, :2] @ params["w"] + jnp.sqrt(jnp.abs(params["b"][None] + below))


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("memory", [None, 4000])
def test_an_example_without_a_finite_gradient_is_named(columns, memory):
    params = {"w": jnp.ones((2, 1)), "b": jnp.zeros(1)}
    bad, good, v = drawn(30, 2), drawn(20, 2), drawn(30, columns)
    bad[17, 0] = 1e7
    with pytest.raises(ValueError, match="infinite for example 17 of `x_1`"):
        tl.kernel_product(steep, params, bad, None, v, memory=memory)
    with pytest.raises(ValueError, match="infinite for example 17 of `x_2`"):
        tl.kernel_product(steep, params, good, bad, v, memory=memory)
    with pytest.raises(ValueError, match="infinite for example 17 of `x_1`"):
        tl.kernel_product(steep, params, bad, good, v[:20], memory=memory)


def test_a_sum_that_overflows_is_told_from_a_gradient_that_does():
    x, v = jnp.full((4, 1), 1e30, jnp.float32), np.full(4, 1e8)
    with pytest.raises(ValueError, match='overflows, .* precision="float64"'):
        tl.kernel_product(lambda w, x: x @ w, jnp.ones((1, 1), jnp.float32), x, None, v)
