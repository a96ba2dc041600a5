r"""Euler's identity: the linearization of a homogeneous network, by products alone."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from ... import theory
from ..._types import Apply, Params, PRNGKey
from ...infinite import fc
from ...models import linearize

DEPTHS = (1, 2, 3)
"""Hidden layers of the ReLU networks that are trained whole."""

_WIDTH = 64


def identity_errors(num_samples: int, dim: int, key: PRNGKey) -> dict[str, np.ndarray]:
    r"""Compare the linearization of ReLU networks with inner products.

    With the first layer alone trained, $f_{W_0}(x; W) = \langle \nabla f(x; W_0), W
    \rangle$; with all $L$ layers, without biases, $\langle \nabla f, \theta \rangle -
    (L - 1) f_0$.

    Args:
        num_samples: Samples.
        dim: Their dimension.
        key: Draws samples and weights.

    Returns:
        `first`, the largest relative error with the first layer trained; `all`, that
        for each of `DEPTHS`; `without`, what the latter are without $(L - 1) f_0$.
    """
    draws, weights, *others = jax.random.split(key, 2 + len(DEPTHS))
    x = jax.random.normal(draws, (num_samples, dim))
    a, W_0 = theory.draw_two_layer(weights, _WIDTH, dim)
    first, _ = _errors(theory.two_layer(a), W_0, x, 1, weights)
    pairs = []
    for depth, each in zip(DEPTHS, others, strict=True):
        model = fc(depth, _WIDTH).model((dim,))
        pairs.append(_errors(model.apply, model.init(each), x, depth + 1, each))
    whole, without = np.array(pairs).T
    return {"first": np.array(first), "all": whole, "without": without}


def _errors(
    apply: Apply, params_0: Params, x: Array, degree: int, key: PRNGKey
) -> tuple[float, float]:
    """Relative errors of the identity, and of the bare product."""
    center, restore = ravel_pytree(params_0)

    def outputs(w: Array, x: Array) -> Array:
        return apply(restore(w), x)[:, 0]

    @jax.jit
    def compare(center: Array, x: Array) -> tuple[Array, Array]:
        theta = center + jax.random.normal(key, center.shape, center.dtype)
        expected = linearize(apply, restore(center))(restore(theta), x)[:, 0]
        product = jax.jacrev(outputs)(center, x) @ theta
        euler = product - (degree - 1) * outputs(center, x)
        gaps = euler - expected, product - expected
        exact, bare = (jnp.abs(gap).max() / jnp.abs(expected).max() for gap in gaps)
        return exact, bare

    exact, bare = compare(center, x)
    return float(exact), float(bare)
