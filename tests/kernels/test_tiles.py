import numpy as np
import pytest

from tangentlab.kernels.tiled.tiles import Grid


def _grid(folder, *, symmetric=True, shape=(7, 7), seal="a seal"):
    return Grid(folder, seal, shape, symmetric, np.dtype(np.float32), 3)


def _values(place):
    return np.random.default_rng(0).normal(size=place.shape).astype(np.float32)


@pytest.fixture
def written(tmp_path):
    grid = _grid(tmp_path)
    for place in grid.places():
        grid.write(place, _values(place))
    return grid


@pytest.mark.parametrize("symmetric, shape", [(True, (7, 7)), (False, (7, 4))])
def test_tiles_cover_every_entry_once(tmp_path, symmetric, shape):
    seen = np.zeros(shape, int)
    for place in _grid(tmp_path, symmetric=symmetric, shape=shape).places():
        seen[place] += 1
        if symmetric and place.rows != place.columns:
            seen[place.columns, place.rows] += 1
    assert (seen == 1).all()


def test_a_tile_is_an_ordinary_npy_file(written):
    names = sorted(path.name for path in written.folder.iterdir())
    assert len(names) == 6
    assert names[:2] == ["tile-00000-00000.npy", "tile-00001-00000.npy"]
    place = written.place(2, 1)
    loaded = np.load(written.path(place), allow_pickle=False)
    np.testing.assert_array_equal(loaded, _values(place))
    np.testing.assert_array_equal(written.read(place, check=True), loaded)
    assert written.path(place).stat().st_size == written.num_bytes(place)


def test_any_flipped_bit_is_found(written):
    place = written.place(1, 0)
    path = written.path(place)
    good = path.read_bytes()
    for position in range(0, len(good), 5):
        path.write_bytes(_flipped(good, position))
        with pytest.raises(ValueError, match="tile-00001-00000.npy is damaged"):
            written.read(place, check=True)


def _flipped(data, position):
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


@pytest.mark.parametrize("length", [0, 40, 128, -1])
def test_a_cut_tile_is_not_there(written, length):
    place = written.place(1, 0)
    written.path(place).write_bytes(written.path(place).read_bytes()[:length])
    assert not written.is_there(place)
    with pytest.raises(ValueError, match="its size or header is wrong"):
        written.read(place, check=False)


def test_a_tile_at_another_place_is_found(written):
    there, here = (written.path(written.place(*at)) for at in [(1, 0), (1, 1)])
    here.write_bytes(there.read_bytes())
    with pytest.raises(ValueError, match="its checksum is wrong. Call `tl.gram` again"):
        written.read(written.place(1, 1), check=True)


def test_a_tile_of_another_computation_is_found(written):
    other = _grid(written.folder, seal="another seal")
    with pytest.raises(ValueError, match="its checksum is wrong"):
        other.read(other.place(0, 0), check=True)


def test_a_missing_tile_is_named(written):
    place = written.place(2, 2)
    written.path(place).unlink()
    assert not written.is_there(place)
    with pytest.raises(FileNotFoundError, match="There is no tile .*00002-00002"):
        written.read(place, check=True)
