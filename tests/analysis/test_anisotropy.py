"""NADs are the right singular vectors of the mixed second derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis import anisotropy, mixed_derivatives, nads, subspace_overlap
from tangentlab.kernels.selection import select
from tests.helpers import is_real
from tests.networks import dense_apply, dense_params

from .problems import SHAPE, conv_apply, conv_params

D = 18
PARAMS = conv_params(1)
X = np.random.default_rng(0).normal(size=(7, *SHAPE))


def dense_mixed(apply, params, x):
    """The mean of the mixed derivative `(p, d)`, by plain nested differentiation."""
    leaves, structure = jax.tree.flatten(params)
    real = [i for i, leaf in enumerate(leaves) if is_real(leaf)]

    def output(chosen, x):
        changed = dict(enumerate(leaves)) | dict(zip(real, chosen, strict=True))
        return apply(jax.tree.unflatten(structure, changed.values()), x).mean()

    def gradient(x):
        made = jax.grad(output)([leaves[i] for i in real], x)
        return jnp.concatenate([g.ravel() for g in made])

    def moved(shift):
        return gradient(jnp.asarray(x) + shift[None])

    M = jax.jit(jax.jacrev(moved))(jnp.zeros(x.shape[1:]))
    return np.asarray(M).reshape(M.shape[0], -1)


def matrix(found):
    U = found.directions.reshape(len(found.directions), -1)
    return (U.T * found.energies) @ U


@pytest.fixture(scope="module")
def averaged():
    return dense_mixed(conv_apply, PARAMS, X)


def test_at_the_origin_they_match_a_dense_decomposition():
    M = dense_mixed(conv_apply, PARAMS, np.zeros((1, *SHAPE)))
    found = nads(conv_apply, PARAMS, SHAPE)
    singular = np.linalg.svd(M, compute_uv=False)
    np.testing.assert_allclose(found.energies, singular**2, rtol=1e-8)
    np.testing.assert_allclose(matrix(found), M.T @ M, atol=1e-10)
    assert found.directions.shape == (D, *SHAPE)
    lengths = (found.directions**2).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(lengths, 1, rtol=1e-12)


def test_at_the_origin_they_are_a_gram_matrix_of_directional_derivatives():
    """The same numbers through the kernel engine: a network whose input is u."""

    def along(params, pair):
        at, u = pair
        return jax.jvp(lambda x: conv_apply(params, x), (at,), (u,))[1]

    axes = np.eye(D).reshape(D, *SHAPE)
    K = tl.gram(along, PARAMS, (np.zeros_like(axes), axes))
    np.testing.assert_allclose(matrix(nads(conv_apply, PARAMS, SHAPE)), K, atol=1e-10)


def test_averaged_over_samples(averaged):
    found = nads(conv_apply, PARAMS, SHAPE, X)
    np.testing.assert_allclose(matrix(found), averaged.T @ averaged, atol=1e-10)


@pytest.mark.parametrize(("rows", "memory"), [(3, 1500), (64, 1500), (14, None)])
def test_blocks_of_parameters_samples_and_directions(rows, memory, monkeypatch):
    """Of 25 parameters ten at a time; 7 samples and 6 directions at most `rows`."""
    monkeypatch.setitem(mixed_derivatives._ROWS, "cpu", rows)
    few = dense_params(jax.random.key(3), (6, 3, 1))
    x = np.random.default_rng(1).normal(size=(7, 6))
    M = dense_mixed(dense_apply, few, x)
    found = nads(dense_apply, few, (6,), x, memory=memory)
    np.testing.assert_allclose(matrix(found), M.T @ M, atol=1e-12)


def test_blocks_cover_each_parameter_once():
    chosen = select(PARAMS)
    blocks = list(anisotropy._blocks_of(chosen, D, 3 * D * 8 * 10))
    sizes = [sum(stop - start for _, start, stop in block) for block in blocks]
    assert set(sizes[:-1]) == {10} and sizes[-1] <= 10
    seen = [
        (leaf, i) for block in blocks for leaf, *ends in block for i in range(*ends)
    ]
    sizes = [leaf.size for leaf in chosen.leaves]
    every = [(leaf, i) for leaf, size in enumerate(sizes) for i in range(size)]
    assert seen == every


@pytest.mark.parametrize("seed", range(6))
def test_what_rounding_leaves_is_not_resolved(seed):
    few = dense_params(jax.random.key(seed), (6, 3, 1))
    found = nads(dense_apply, few, (6,), trainable=[False, True])
    assert found.num_resolved == 3  # three units see three directions


def test_some_parameters_multipliers_and_precision():
    few = dense_params(jax.random.key(3), (6, 3, 1))
    parts = [
        nads(dense_apply, few, (6,), trainable=[True, False]),
        nads(dense_apply, few, (6,), trainable=[False, True]),
    ]
    assert parts[1].num_resolved == 3  # three units see three directions
    both = nads(dense_apply, few, (6,), scale=[2.0, 3.0])
    assert both.num_resolved == 6
    expected = 2 * matrix(parts[0]) + 3 * matrix(parts[1])
    np.testing.assert_allclose(matrix(both), expected, atol=1e-12)
    single = jax.tree.map(lambda a: a.astype(jnp.float32), few)
    wide = nads(dense_apply, single, (6,), precision="float64")
    narrow = nads(dense_apply, single, (6,))
    assert narrow.resolution > 1e6 * wide.resolution
    np.testing.assert_allclose(narrow.energies, wide.energies, rtol=1e-4)


def test_a_direction_becomes_a_task():
    found = nads(conv_apply, PARAMS, SHAPE)
    task = tl.tasks.direction(
        found.directions[3], 20, 10, key=jax.random.key(0), index=3
    )
    along = task.x.reshape(30, -1) @ found.directions[3].ravel()
    np.testing.assert_array_equal(along > 0, task.y > 0.5)


def test_origin_and_average_span_similar_subspaces():
    small = X / 10  # near the origin the two are close
    origin, mean = (
        nads(conv_apply, PARAMS, SHAPE),
        nads(conv_apply, PARAMS, SHAPE, small),
    )
    tops = [found.directions[:5].reshape(5, -1).T for found in (origin, mean)]
    assert subspace_overlap(*tops) > 0.9


def test_messages(no_type_checks):
    with pytest.raises(ValueError, match='use activation="gelu"'):
        nads(lambda p, x: jax.nn.relu(x @ p), jnp.ones((4, 1)), (4,))
    with pytest.raises(ValueError, match="of one output, this network has 2"):
        nads(conv_apply, conv_params(2), SHAPE)
    with pytest.raises(ValueError, match=r"must have shape \(n, 4\), got \(2, 3\)"):
        nads(lambda w, x: x @ w, jnp.ones((4, 1)), (4,), np.ones((2, 3)))
    with pytest.raises(ValueError, match="second derivative of the network is NaN"):
        nads(lambda w, x: jnp.sqrt(x + 0 * x) @ w, jnp.ones((4, 1)), (4,))
