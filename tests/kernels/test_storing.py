"""A Gram matrix on disk is that in memory, and is finished by whoever comes next."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels import engine
from tangentlab.kernels.tiled import producing, storing, units
from tests.networks import dense_apply, dense_params

N = 600  # three panels a side: six tiles
PARAMS = dense_params(jax.random.key(0), (3, 5, 2))
X = np.random.default_rng(0).normal(size=(N, 3))


def _gram(
    store, x_2=None, *, apply=dense_apply, params=PARAMS, x_1: np.ndarray = X, **options
):
    return tl.gram(apply, params, x_1, x_2, store=store, **options)


def _never(params, x):
    raise AssertionError("work was done before the folder was looked at")


def _files(folder):
    """Contents of all files, and what changes when one is written again."""
    return {
        path.name: (path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "store"
    _gram(folder)
    return folder


@pytest.fixture
def store(finished, tmp_path):
    """A finished folder to be changed."""
    return shutil.copytree(finished, tmp_path / "store")


@pytest.mark.parametrize(
    "options",
    [{}, {"outputs": 1}, {"scale": [1.0, 3.0]}, {"trainable": [False, True]}],
    ids=str,
)
@pytest.mark.parametrize("x_2", [None, X[:333] + 1], ids=["symmetric", "across"])
def test_on_disk_as_in_memory(tmp_path, x_2, options):
    tiled = _gram(tmp_path / "a" / "new" / "folder", x_2, **options)
    K = tl.gram(dense_apply, PARAMS, X, x_2, **options)
    assert isinstance(tiled, tl.TiledGram)
    assert (tiled.shape, tiled.dtype) == (K.shape, K.dtype)
    scale = float(jnp.abs(K).max())
    np.testing.assert_allclose(tiled.to_array(), K, rtol=1e-12, atol=1e-13 * scale)


def test_the_result_is_symmetric_to_the_bit(finished):
    K = tl.open_gram(finished).to_array()
    np.testing.assert_array_equal(K, K.T)
    tiles = sorted(path.name for path in finished.glob("*.npy"))
    assert len(tiles) == 6 and "tile-00000-00001.npy" not in tiles


def test_float32_and_float64_by_precision(tmp_path):
    params = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), PARAMS)
    x = X.astype(np.float32)
    half = _gram(tmp_path / "half", params=params, x_1=x)
    wide = _gram(tmp_path / "wide", params=params, x_1=x, precision="float64")
    assert (half.dtype, wide.dtype) == (np.float32, np.float64)
    exact = tl.gram(dense_apply, params, x, precision="float64")
    np.testing.assert_allclose(wide.to_array(), exact, rtol=1e-12, atol=1e-12)


def test_a_second_call_writes_nothing(store):
    before = _files(store)
    np.testing.assert_array_equal(_gram(store), tl.open_gram(store).to_array())
    assert _files(store) == before


@pytest.mark.parametrize("gone", [["00000-00000"], ["00001-00000", "00002-00002"]])
def test_what_is_missing_is_computed_again_and_nothing_else(store, gone):
    before = _files(store)
    for name in gone:
        (store / f"tile-{name}.npy").unlink()
    _gram(store)
    after = _files(store)
    assert {k: v[0] for k, v in after.items()} == {k: v[0] for k, v in before.items()}
    written = {name for name in after if after[name] != before[name]}
    assert written == {f"tile-{name}.npy" for name in gone}


def test_a_cut_tile_is_computed_again_and_reported(store, caplog):
    before = _files(store)
    path = store / "tile-00001-00001.npy"
    path.write_bytes(path.read_bytes()[:1000])
    _gram(store)
    assert path.read_bytes() == before[path.name][0]
    assert "tile-00001-00001.npy is not whole and is computed again" in caplog.text


def test_a_tile_with_a_flipped_bit_is_computed_again_and_reported(store, caplog):
    before = _files(store)
    path = store / "tile-00002-00001.npy"
    content = bytearray(path.read_bytes())
    content[5000] ^= 1
    path.write_bytes(content)
    _gram(store)
    after = _files(store)
    assert {k: v[0] for k, v in after.items()} == {k: v[0] for k, v in before.items()}
    assert [name for name in after if after[name] != before[name]] == [path.name]
    assert "tile-00002-00001.npy has a wrong checksum and is computed" in caplog.text


def test_a_tile_that_is_a_link_to_elsewhere_is_replaced(store, tmp_path, caplog):
    path, outside = store / "tile-00002-00001.npy", tmp_path / "outside.npy"
    content = path.read_bytes()
    path.rename(outside)
    path.symlink_to(outside)
    with pytest.raises(ValueError, match="1 of 6 tiles are missing"):
        tl.open_gram(store)
    _gram(store)
    assert not path.is_symlink() and path.read_bytes() == content
    assert outside.read_bytes() == content


def test_the_plan_is_never_made_again(store, caplog):
    (store / "tile-00002-00000.npy").unlink()
    before = (store / "manifest.json").read_bytes()
    _gram(store, memory=10**5)  # for which there would be another plan
    assert (store / "manifest.json").read_bytes() == before
    assert "more than the 100,000 of `memory`" in caplog.text
    assert _gram(store).to_array().shape == (N, N)


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_no_tile_depends_on_what_else_is_computed(
    tmp_path, finished, kept, monkeypatch
):
    """Neither on the order, nor on what is kept in memory, nor on what was skipped."""
    monkeypatch.setattr(storing, "kept_panels", lambda *_: kept)
    backwards = lambda *args: units.in_order(*args)[::-1]  # noqa: E731
    monkeypatch.setattr(producing, "in_order", backwards)
    folder = tmp_path / "store"
    folder.mkdir()
    for name in ("manifest.json", "tile-00001-00000.npy", "tile-00002-00002.npy"):
        shutil.copy(finished / name, folder)
    _gram(folder)
    for path in finished.iterdir():
        assert (folder / path.name).read_bytes() == path.read_bytes()


def test_several_at_once_fill_one_folder(tmp_path, finished):
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: _gram(tmp_path / "store"), range(3)))
    for path in finished.glob("*.npy"):
        assert (tmp_path / "store" / path.name).read_bytes() == path.read_bytes()
    assert len(_files(tmp_path / "store")) == 7


def test_tiles_that_another_process_finished_are_left_out(
    tmp_path, finished, monkeypatch
):
    """They appear while this process is at its first unit."""
    computed = []

    def run(job, pairs, *rest):
        for block in engine.run(job, pairs, *rest):
            if not computed:
                for path in finished.glob("tile-0000[12]*.npy"):
                    shutil.copy(path, tmp_path / "store")
            computed.append((block.rows.start, block.columns.start))
            yield block

    monkeypatch.setattr(storing, "run", run)
    _gram(tmp_path / "store")
    assert computed == [(0, 0)]


def test_leftovers_of_a_killed_process_are_removed(store):
    (store / ".tile-00001-00000.npy.0123.partial").write_bytes(b"half")
    _gram(store)
    assert not list(store.glob(".*"))


def test_an_unfinished_folder_is_not_read_as_finished(store):
    (store / "tile-00000-00000.npy").unlink()
    (store / "tile-00002-00001.npy").write_bytes(b"half")
    told = "not finished: 2 of 6 tiles are missing. Call `tl.gram` again"
    with pytest.raises(ValueError, match=told):
        tl.open_gram(store)


def test_a_folder_without_a_gram_matrix_cannot_be_opened(tmp_path):
    told = {tmp_path: "no manifest.json in it", tmp_path / "nowhere": "does not exist"}
    for folder, what in told.items():
        with pytest.raises(FileNotFoundError, match=f"holds no Gram matrix: .*{what}"):
            tl.open_gram(folder)


def _other(leaf):
    return jax.tree.map(lambda p: p + 1, leaf)


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"params": _other(PARAMS)}, "asked for: `params` is not the same. Choose"),
        ({"x_1": X + 1}, "`x_1` is not the same"),
        ({"x_1": X[:99]}, r"its shape is \(600, 600\), asked for is \(99, 99\); `x_1`"),
        ({"x_2": X}, "`x_2` is not the same"),
        ({"apply": lambda p, x: -dense_apply(p, x)}, "the network is not the same"),
        ({"outputs": "sum"}, r"\(`apply` or `outputs`\)"),
        ({"scale": 2.0}, "`scale` is not the same"),
        ({"trainable": [True, False]}, "`trainable` is not the same"),
        ({"precision": "float64"}, "`precision` is 'float32', asked for is 'float64'"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_folder_of_another_computation_is_refused(finished, changes, told):
    before = _files(finished)
    with pytest.raises(ValueError, match=told):
        _gram(finished, **changes)
    assert _files(finished) == before


def test_a_damaged_manifest_is_refused_before_any_work(store):
    path = store / "manifest.json"
    path.write_text(path.read_text().replace("600", "601"))
    with pytest.raises(ValueError, match="manifest.json is damaged"):
        _gram(store, apply=_never)


@pytest.mark.parametrize("bad, across", [(17, False), (450, False), (450, True)])
def test_an_example_without_a_finite_gradient_is_named(tmp_path, bad, across):
    def apply(params, x):  # the slope of a square root at zero is infinite
        below = jnp.where(x[:, :1] > 1e6, 0.0, 1.0)
        root = jnp.sqrt(jnp.abs(params["b"][None] + below))
        return dense_apply(params["net"], x) + root

    params = {"net": PARAMS, "b": jnp.zeros(1)}
    x = X.copy()
    x[bad, 0] = 1e7
    pair = (X[:300], x) if across else (x, None)
    name = "x_2" if across else "x_1"
    with pytest.raises(ValueError, match=f"example {bad} of `{name}`"):
        tl.gram(apply, params, *pair, store=tmp_path)
    for path in tmp_path.glob("*.npy"):
        assert np.isfinite(np.load(path)).all()


def test_a_result_larger_than_memory_goes_to_disk(tmp_path):
    n, memory = 1500, 2**23
    x = np.random.default_rng(0).normal(size=(n, 3))
    assert 2 * memory < 8 * n**2
    with pytest.raises(ValueError, match="or write the result to disk with `store=`"):
        tl.gram(dense_apply, PARAMS, x, memory=memory)
    tiled = _gram(tmp_path, x_1=x, memory=memory)
    rows = [0, 1234, 1499]
    expected = tl.gram(dense_apply, PARAMS, x[rows], x)
    np.testing.assert_allclose(tiled[rows], expected, rtol=1e-11, atol=1e-11)


def test_the_bar_goes_on_from_what_is_done(store, capsys):
    (store / "tile-00002-00000.npy").unlink()
    _gram(store, progress=True)
    shown = capsys.readouterr().err
    assert "240000/240000" in shown
    assert "pairs/s" in shown
