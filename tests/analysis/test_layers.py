"""Shares of layers add up and are those of dense Jacobians."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis import (
    alignment_shares,
    kernel_shares,
    layers,
    trace_shares,
)
from tests.helpers import leaf_jacobians
from tests.networks import dense_apply

from .problems import SHAPE, N, conv_apply, conv_params, network, vectors

X, PARAMS = vectors(0, 9, *SHAPE), conv_params(2)


@pytest.fixture(scope="module")
def parts():
    """Traces of single parameters of a convolutional network with two outputs."""
    jacobians = jax.jit(partial(leaf_jacobians, conv_apply, PARAMS))(X)
    return np.array([float((J**2).sum()) / 2 for J in jacobians])


def test_traces_of_single_parameters(parts):
    found = trace_shares(conv_apply, PARAMS, X, by="parameter")
    assert found.names == ("b", "dense/0/b", "dense/0/w", "dense/1/b", "dense/1/w", "k")
    np.testing.assert_allclose(found.shares, parts / parts.sum(), rtol=1e-10)
    assert found.total == pytest.approx(parts.sum(), rel=1e-10)
    diagonal = tl.gram_diagonal(conv_apply, PARAMS, X)
    assert found.total == pytest.approx(float(diagonal.sum()), rel=1e-10)


def test_traces_of_layers_in_small_chunks(parts, monkeypatch):
    monkeypatch.setattr(layers, "_MOST", 4)
    found = trace_shares(conv_apply, PARAMS, X)
    assert found.names == ("b", "dense/0", "dense/1", "k")
    grouped = np.array([parts[0], parts[1:3].sum(), parts[3:5].sum(), parts[5]])
    np.testing.assert_allclose(found.shares, grouped / parts.sum(), rtol=1e-10)


def test_shares_of_the_matrix_and_of_an_alignment():
    params, x, full = network()
    y = vectors(1, N)
    K, grams = full[:, 0, :, 0], tl.gram_by_parameter(dense_apply, params, x)
    found = kernel_shares(grams, by="parameter")
    expected = [(np.asarray(part) * K).sum() for part in jax.tree.leaves(grams)]
    np.testing.assert_allclose(found.shares, expected / (K**2).sum(), rtol=1e-10)
    assert found.total == pytest.approx((K**2).sum(), rel=1e-10)
    assert found.names == ("0/b", "0/w", "1/b", "1/w")
    aligned = alignment_shares(dense_apply, params, x, y, by="parameter")
    expected = [y @ np.asarray(part) @ y for part in jax.tree.leaves(grams)]
    np.testing.assert_allclose(aligned.shares, expected / (y @ K @ y), rtol=1e-10)
    assert aligned.total == pytest.approx(y @ K @ y / N**2, rel=1e-10)
    by_layer = alignment_shares(dense_apply, params, x, y)
    assert by_layer.names == ("0", "1") and by_layer.shares.sum() == pytest.approx(1)


def test_multipliers_and_one_output():
    params, x, full = network(0, 3)
    found = trace_shares(dense_apply, params, x, outputs=2, scale=[0.0, 4.0])
    assert found.shares.tolist() == [0, 1]
    plain = trace_shares(dense_apply, params, x, outputs=2)
    assert plain.total == pytest.approx(np.trace(full[:, 2, :, 2]), rel=1e-10)
    assert found.total == pytest.approx(4 * plain.total * plain.shares[1], rel=1e-10)


def test_a_single_array_and_a_network_of_zeros():
    found = trace_shares(lambda w, x: x @ w, jnp.ones((3, 1)), jnp.ones((2, 3)))
    assert found.names == ("params",) and found.total == 6
    zero = trace_shares(lambda w, x: x @ w, jnp.ones((3, 1)), jnp.zeros((2, 3)))
    assert zero.total == 0 and np.isnan(zero.shares).all()


def test_messages():
    params, x, _ = network()
    with pytest.raises(ValueError, match="Unknown grouping 'block'. Known: layer"):
        trace_shares(dense_apply, params, x, by="block")
    with pytest.raises(ValueError, match=r"`target` must hold .* got shape \(4,\)"):
        alignment_shares(dense_apply, params, x, np.ones(4))
