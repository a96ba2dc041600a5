import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels import pieces
from tangentlab.kernels.pieces import Pieces, assemble, column_blocks


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(11, 3, 50))


def cut(rows, *sizes):
    return Pieces(np.split(rows, np.cumsum(sizes)[:-1]))


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("gathered", [1, 2**9])
def test_products_of_columns_add_up(rows, apart, gathered, monkeypatch):
    monkeypatch.setattr(pieces, "_GATHERED", gathered)
    monkeypatch.setattr(pieces, "_LEAST", 7)
    flat = rows.reshape(33, 50) if apart else rows.reshape(11, 150)
    R, S = cut(rows, 4, 4, 3), rows[:5]
    few = flat[: len(flat) // 11 * 5]
    for left, right, expected in (
        (R, R, flat @ flat.T),
        (R, S, flat @ few.T),
        (S, R, few @ flat.T),
        (rows, S, flat @ few.T),
    ):
        blocks = list(column_blocks(left, right, apart=apart))
        assert all((a is b) == (left is right) for a, b in blocks)
        np.testing.assert_allclose(sum(a @ b.T for a, b in blocks), expected)


@pytest.mark.parametrize("part", [slice(0, 11), slice(3, 9), slice(4, 5), slice(8, 11)])
def test_a_part_is_that_of_the_array(rows, part):
    found = cut(rows, 4, 4, 3)[part]
    assert found.shape == rows[part].shape
    whole = found.columns(slice(0, 150), apart=False)
    np.testing.assert_array_equal(whole, rows[part].reshape(-1, 150))


def test_any():
    zeros = np.zeros((2, 1, 3))
    assert not Pieces([zeros, zeros]).any()
    assert Pieces([zeros, zeros + 1]).any()


def test_only_wide_rows_stay_in_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "_WIDE", 5)
    wide, narrow = np.ones((2, 1, 5)), np.ones((2, 1, 4))
    assert isinstance(assemble([wide, wide], rows=True), Pieces)
    assert assemble([wide], rows=True) is wide
    for arrays, rows in (([wide] * 2, False), ([narrow] * 2, True)):
        assert isinstance(assemble(arrays, rows=rows), np.ndarray)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_gram_of_pieces_is_the_same(outputs, monkeypatch):
    """Chunks of a network with many positions, of which the last overlaps."""
    model = tl.models.lenet((12, 12, 3), num_outputs=outputs)
    params = model.init(jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (41, 12, 12, 3))
    expected = tl.gram(model.apply, params, x, precision="float64")
    full = tl.gram_full(model.apply, params, x, x[:9], precision="float64")
    monkeypatch.setattr(pieces, "_WIDE", 1)
    monkeypatch.setattr("tangentlab.kernels.planning._CHUNK_BYTES", {"cpu": 1})
    found = tl.gram(model.apply, params, x, precision="float64")
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert jnp.array_equal(found, found.T)
    found = tl.gram_full(model.apply, params, x, x[:9], precision="float64")
    np.testing.assert_allclose(found, full, rtol=1e-11, atol=1e-12)
