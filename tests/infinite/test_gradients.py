"""Gradients of kernels are right where examples coincide, or one of them is zero.

Where a kernel has a corner at coincident examples (the NTK of a ReLU, both kernels of a
step), its gradient there is the mean of both sides, which central differences give too.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import infinite as inf
from tests.infinite.activations import cases
from tests.infinite.masked_networks import MASKED
from tests.infinite.networks import NETWORKS, Case, dense, inputs

ACTIVATIONS = cases.CLOSED | cases.KERNEL_ALONE | {"series": inf.Tanh(4)}
FAMILIES = """
    relu abrelu abs step sign rectified_2 erf_affine sigmoid_like gelu sin_affine cos
    rbf gabor exp gaussian exp_normalized hermite_3 monomial_3 polynomial by_kernel
""".split()
SERIES = pytest.param("series", marks=pytest.mark.slow)
LAYERS = """
    dense fc residual_dense product layer_norm layer_norm_positions
    attention_softmax attention_root aggregate
""".split()
MORE = """
    standard cntk conv_gap conv_flatten conv_transpose conv_local avg_pool concatenate
    dropout attention_identity resize slice
""".split()
BOTH = [*LAYERS, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)]
WITH_MASKS = {"layer_norm_positions": 0.08, "aggregate": 0.03}  # largest steps
# Rounding is felt less at large steps; errors in powers of the step cancel over five.
STEPS = 1 / 2 ** np.arange(5)


def among_others(case):
    """`x -> Batch`: one example, the same again, zero, and another."""
    drawn = inputs(case)
    x = jnp.asarray(drawn.x)
    fixed = jnp.stack([x[0], jnp.zeros_like(x[0]), x[1]])
    same = np.array([0, 0, 2, 1])
    mask = None if drawn.mask is None else np.asarray(drawn.mask)[same]
    graph = None if drawn.graph is None else np.asarray(drawn.graph)[same]
    return x[0], lambda x: inf.Batch(jnp.concatenate([x[None], fixed]), mask, graph)


def check_gradients(layer, case, largest=0.08):
    """Of both kernels of the first example with all, by central differences."""
    x, batch = among_others(case)
    direction = np.random.default_rng(1).normal(size=x.shape)

    def row(x):
        return jnp.stack([K[0] for K in layer.kernel(batch(x))])

    @jax.jit
    def both(x):
        return row(x), jax.jacrev(row)(x)

    def quotient(step):
        above, below = (both(x + sign * step * direction)[0] for sign in (1, -1))
        return (above - below) / (2 * step)

    values, gradient = map(np.asarray, both(x))
    assert np.isfinite(gradient).all()
    assert np.isfinite(both(0 * x)[1]).all()
    slopes = (gradient * direction).reshape(*values.shape, -1).sum(-1)
    weights = np.linalg.solve(np.vander(STEPS, increasing=True).T, np.eye(5)[0])
    expected = sum(
        w * np.asarray(quotient(largest * h))
        for w, h in zip(weights, STEPS, strict=True)
    )
    size = np.abs(expected).max()
    assert size > 1e-3
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize("name", [*FAMILIES, SERIES])
def test_of_activations(name):
    layer = inf.serial(dense(8, 0.9), ACTIVATIONS[name], dense())
    check_gradients(layer, Case(lambda: layer, (3,)))


@pytest.mark.parametrize("name", BOTH)
def test_of_layers(name):
    check_gradients(NETWORKS[name].build(), NETWORKS[name])


@pytest.mark.parametrize("name", WITH_MASKS)
def test_with_masks(name):
    check_gradients(MASKED[name].build(), MASKED[name], WITH_MASKS[name])
