"""A Gram matrix on disk answers as the same matrix in memory does."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.kernels.tiled.tiles import Grid
from tests.helpers import assert_close

N, M, SIDE = 11, 7, 4


def _matrix(symmetric, dtype="float32"):
    rng = np.random.default_rng(0)
    if not symmetric:
        return rng.normal(size=(N, M)).astype(dtype)
    half = rng.normal(size=(N, N))
    return (half @ half.T).astype(dtype)


def _on_disk(folder, K, symmetric):
    grid = Grid(folder, "seal", K.shape, symmetric, K.dtype, SIDE)
    for place in grid.places():
        grid.write(place, K[place])
    return tl.TiledGram(grid)


@pytest.fixture(scope="module", params=[True, False], ids=["symmetric", "across"])
def pair(request, tmp_path_factory):
    K = _matrix(request.param)
    return K, _on_disk(tmp_path_factory.mktemp("tiles"), K, request.param)


def indices(size):
    inside = st.integers(-size, size - 1)
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.none() | st.integers(-3, 3).filter(bool)
    return st.one_of(
        inside,
        st.builds(slice, bound, bound, step),
        st.lists(inside, max_size=6),
        st.lists(inside, min_size=1, max_size=6).map(np.array),
        st.lists(st.booleans(), min_size=size, max_size=size).map(np.array),
    )


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_indexing_is_that_of_numpy(pair, data):
    K, tiled = pair
    rows = data.draw(indices(K.shape[0]))
    columns = data.draw(indices(K.shape[1]))
    keys = [rows, (rows, columns), (rows, ...), (..., columns), (slice(None), columns)]
    for key in keys:
        try:
            expected = K[key]
        except IndexError:  # arrays of lengths that do not go in pairs
            with pytest.raises(IndexError, match="do not go in pairs"):
                tiled[key]
            continue
        found = tiled[key]
        assert type(found) is type(expected) and found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_a_submatrix_by_rows_and_columns(pair):
    K, tiled = pair
    at = np.ix_([9, 0, 5, 0], [6, 1])
    np.testing.assert_array_equal(tiled[at], K[at])
    grid = np.array([[0, 1], [10, 3]])
    np.testing.assert_array_equal(tiled[grid], K[grid])
    np.testing.assert_array_equal(tiled[grid, [2, 5]], K[grid, [2, 5]])
    np.testing.assert_array_equal(tiled[5, grid % 7], K[5, grid % 7])


def test_it_has_the_shape_of_an_array(pair):
    K, tiled = pair
    assert (tiled.shape, tiled.dtype, tiled.ndim, len(tiled)) == (
        K.shape,
        K.dtype,
        2,
        N,
    )
    np.testing.assert_array_equal(tiled.to_array(), K)
    np.testing.assert_array_equal(np.asarray(tiled), K)
    assert np.asarray(tiled, np.float64).dtype == np.float64
    np.testing.assert_array_equal(tiled.diagonal(), K.diagonal())
    np.testing.assert_array_equal(jnp.asarray(tiled), K)
    np.testing.assert_array_equal(list(tiled), K)


def test_products_add_up_in_float64(pair):
    K, tiled = pair
    wide, rng = K.astype(np.float64), np.random.default_rng(1)
    for shape in [(K.shape[1],), (K.shape[1], 3)]:
        v = rng.normal(size=shape)
        np.testing.assert_allclose(tiled @ v, wide @ v, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(tiled @ jnp.asarray(v), wide @ v, atol=1e-13)
    for shape in [(N,), (3, N)]:
        v = rng.normal(size=shape)
        np.testing.assert_allclose(v @ tiled, v @ wide, rtol=1e-13, atol=1e-13)
        assert (v @ tiled).dtype == np.float64


def test_a_long_product_goes_in_strips(tmp_path, monkeypatch):
    from tangentlab.kernels.tiled import tiled_gram

    K = _matrix(True)
    tiled = _on_disk(tmp_path, K, True)
    v = np.arange(float(N))
    whole = tiled @ v
    monkeypatch.setattr(tiled_gram, "_STRIP", 5)
    np.testing.assert_allclose(tiled @ v, whole, rtol=1e-14)


def test_it_says_what_it_is(tmp_path):
    tiled = _on_disk(tmp_path, _matrix(True), True)
    text = f"TiledGram(11 x 11, float32, symmetric, 6 tiles of 4, in '{tmp_path}')"
    assert repr(tiled) == text
    assert tiled.folder == tmp_path


def test_only_the_tiles_needed_are_read(tmp_path):
    K = _matrix(True)
    tiled = _on_disk(tmp_path, K, True)
    for path in tmp_path.glob("*.npy"):
        if path.name != "tile-00001-00000.npy":
            path.unlink()
    np.testing.assert_array_equal(tiled[4:8, :4], K[4:8, :4])
    np.testing.assert_array_equal(tiled[0, 4:8], K[0, 4:8])  # the mirrored tile
    np.testing.assert_array_equal(tiled[[4, 1], [0, 7]], K[[4, 1], [0, 7]])
    with pytest.raises(FileNotFoundError, match="There is no tile"):
        tiled[0]


def test_damage_is_found_on_reading(tmp_path):
    tiled = _on_disk(tmp_path, _matrix(True), True)
    path = tmp_path / "tile-00002-00001.npy"
    data = bytearray(path.read_bytes())
    data[140] ^= 1
    path.write_bytes(data)
    assert tiled[0, 0] == _matrix(True)[0, 0]
    for use in (tiled.to_array, lambda: tiled @ np.ones(N), lambda: tiled[9, 5]):
        with pytest.raises(ValueError, match="tile-00002-00001.npy is damaged"):
            use()


@pytest.mark.parametrize(
    "key, message",
    [
        (N, "11 is out of bounds for an axis of 11"),
        ((0, -N - 1), "-12 is out of bounds"),
        ((0, 0, 0), "two axes, got 3 indices"),
        (None, "indexed by integers, slices"),
        (np.ones((N, N), bool), "11 booleans along an axis"),
        (1.5, "got 1.5"),
    ],
)
def test_what_no_matrix_has_is_refused(tmp_path, key, message):
    tiled = _on_disk(tmp_path, _matrix(True), True)
    with pytest.raises(IndexError, match=message):
        tiled[key]


def test_factors_of_the_wrong_length_are_refused(tmp_path):
    tiled = _on_disk(tmp_path, _matrix(False), False)
    with pytest.raises(ValueError, match=r"shape \(7,\) or \(7, k\), got \(11,\)"):
        _ = tiled @ np.ones(N)
    with pytest.raises(ValueError, match=r"shape \(11,\) or \(k, 11\), got \(11, 2\)"):
        _ = np.ones((N, 2)) @ tiled


def test_it_does_not_become_an_array_uncopied(tmp_path):
    tiled = _on_disk(tmp_path, _matrix(True), True)
    with pytest.raises(ValueError, match="uncopied"):
        np.array(tiled, copy=False)


def test_later_stages_take_it(tmp_path):
    K = _matrix(True, "float64")
    tiled = _on_disk(tmp_path, K, True)
    assert_close(tl.spectrum(tiled).eigenvalues, tl.spectrum(K).eigenvalues)
    assert_close(tl.kernel_distance(tiled, K), 0.0)
    y = np.arange(float(N))
    found = tl.energy_concentration(tiled, y, 3)
    assert_close(found, tl.energy_concentration(K, y, 3))
