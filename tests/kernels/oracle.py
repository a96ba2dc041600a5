"""Dense Jacobians of a network of the table, and how close is close enough."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tests.helpers import is_real, leaf_jacobians

from .cases import Case, promotion
from .table import CASES

DOUBLE, SINGLE = 1e-10, 1e-5  # of the largest entry
BFLOAT16 = 4 * float(jnp.finfo(jnp.bfloat16).eps)


@functools.cache
def leaf_kernels(name: str) -> list[np.ndarray]:
    """Kernels `(n, c, n + m, c)` of the single real-valued leaves, in float64.

    Columns are the samples `x` and then the other set.
    """
    case = CASES[name]()
    with promotion("relaxed" in case.tags):
        both = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), case.x, case.x_2)
        dense = functools.partial(leaf_jacobians, weighed(case), case.params)
        jacobians = map(np.asarray, jax.jit(dense)(both))
    n = len(jax.tree.leaves(case.x)[0])
    return [np.einsum("acp,bdp->acbd", J[:n], J) for J in jacobians]


def multipliers(case: Case):
    """A tree of multipliers like the parameters; 0 where one is not trainable."""

    def spread(prefix, default):
        tree = default if prefix is None else prefix
        return jax.tree.broadcast(tree, case.params)

    def weigh(leaf, keep, scale):
        return np.broadcast_to(np.where(keep, scale, 0.0), np.shape(leaf))

    return jax.tree.map(
        weigh, case.params, spread(case.trainable, True), spread(case.scale, 1.0)
    )


def weighed(case: Case):
    """The network as a function of parameters that are stretched about their values.

    Stretching by the root of the multipliers makes them part of the plain kernel.
    """
    if case.trainable is None and case.scale is None:
        return case.apply

    def stretch(at, moved, scale):
        return at + np.sqrt(scale) * (moved - at) if is_real(moved) else moved

    def apply(params, x):
        stretched = jax.tree.map(stretch, case.params, params, multipliers(case))
        return case.apply(stretched, x)

    return apply


def between(kernel: np.ndarray, across: bool) -> np.ndarray:
    """The columns of the other set of samples, or those of the rows themselves."""
    n = len(kernel)
    return kernel[:, :, n:] if across else kernel[:, :, :n]


def mean_over_outputs(kernel: np.ndarray) -> np.ndarray:
    """The mean of the diagonal blocks."""
    return np.einsum("acbc->ab", kernel) / kernel.shape[1]


def assert_agrees(actual, expected, resolution: float) -> None:
    """Compare trees of arrays to a fraction of their largest entry; of 1 if all are 0.

    One bound for the whole tree: a key's bias in softmax attention has no gradient, and
    rounding alone is left in its kernel.
    """
    entries = [np.abs(leaf).max(initial=0) for leaf in jax.tree.leaves(expected)]
    bound = resolution * (max(entries) or 1.0)

    def compare(found, wanted):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=0, atol=bound)

    jax.tree.map(compare, actual, expected)
