"""Tiles, memory and progress change nothing about a kernel."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import infinite as inf
from tangentlab.infinite import cutting, evaluating, on_disk
from tangentlab.kernels.request import Request
from tests.infinite import oracle
from tests.infinite.networks import NETWORKS, examples

DENSE = inf.fc(2, 8)
CONV = inf.cntk(1, 4)
X = np.random.default_rng(0).normal(size=(7, 3, 3, 2))


@pytest.mark.parametrize("layer", [DENSE, CONV, inf.cntk(1, 4, global_pool=False)])
@pytest.mark.parametrize("x_2", [None, X[:4] + 1.0], ids=["symmetric", "across"])
@pytest.mark.parametrize("target", [1, 2000])
def test_small_tiles_give_the_same_kernel(layer, x_2, target, monkeypatch):
    expected = layer.kernel(X, x_2)
    monkeypatch.setitem(cutting._TARGET, "cpu", target)
    for K, other in zip(expected, layer.kernel(X, x_2), strict=True):
        np.testing.assert_allclose(other, K, rtol=1e-12)
    diagonals = layer.diagonal(X)
    np.testing.assert_allclose(diagonals.ntk, np.diag(layer.ntk(X)), rtol=1e-7)


POOLED = inf.serial(
    inf.AvgPool((2, 2)), inf.Conv(4, (2, 2)), inf.Relu(), inf.GlobalAvgPool()
)


@pytest.mark.parametrize("name", ["pooled", "aggregate"])
def test_layers_before_all_weights_are_applied_once(name):
    layer, x = POOLED, inf.Batch(X)
    if name == "aggregate":
        layer, x = NETWORKS[name].build(), examples(name)
    expected = oracle.kernels(layer, x)
    diagonals = layer.diagonal(x), jax.jit(layer.diagonal)(x)
    for found in (layer.kernel(x), jax.jit(layer.kernel)(x)):
        for K, exact in zip(found, expected, strict=True):
            np.testing.assert_allclose(K, exact, rtol=1e-6)
    for found in diagonals:
        for values, exact in zip(found, expected, strict=True):
            np.testing.assert_allclose(values, np.diag(exact), rtol=1e-6)


def test_pairs_of_positions_are_carried_below_pooling_alone():
    def size(layer):
        problem = evaluating.prepare(layer, ("ntk",), X, None, Request())
        cuts = cutting.cut(problem.layer, ("ntk",), problem.batches, None, kept=True)
        return cuts.pair_bytes

    padded = 5 * 5  # positions with padding
    assert size(DENSE) == 8
    assert size(inf.cntk(3, 4, global_pool=False)) <= 8 * padded
    assert 8 * padded < size(CONV) <= 8 * padded**2
    pooled = inf.AvgPool((3, 3))
    assert size(inf.serial(pooled, inf.Conv(4, (1, 1)), inf.Flatten())) == 8


def test_float64_is_kept_where_jax_has_it_or_it_is_asked_for():
    with jax.enable_x64(False):
        assert DENSE.ntk(X).dtype == np.float32
        assert DENSE.ntk(X, precision="float64").dtype == np.float64
    assert DENSE.ntk(X).dtype == np.float64


def test_memory_bounds_tiles_or_is_refused():
    batches = (inf.Batch(X), inf.Batch(X))
    small = cutting.cut(CONV, ("ntk",), batches, 80_000, kept=True)
    large = cutting.cut(CONV, ("ntk",), batches, 8_000_000, kept=True)
    assert small.rows * small.columns < large.rows * large.columns
    np.testing.assert_allclose(CONV.ntk(X, memory=80_000), CONV.ntk(X), rtol=1e-12)
    message = "does not fit 0.977 KiB: .* or write `nngp` or `ntk` to disk with"
    with pytest.raises(ValueError, match=message):
        CONV.ntk(X, memory=1000)
    with pytest.raises(ValueError, match="whole number of bytes above 0, got 0"):
        CONV.ntk(X, memory=0)


@pytest.mark.parametrize("memory", [80_000, 500_000, 8_000_000])
def test_a_folder_says_what_its_tiles_need(memory, tmp_path):
    """So that workers of a cluster with less take no part."""
    problem = evaluating.prepare(CONV, ("ntk",), X, None, Request())
    maker = on_disk.KernelMaker(problem, Request(memory=memory), tmp_path)
    needed, cuts = maker.manifest.plan["needed"], maker.manifest.plan
    assert 8 * cuts["rows"] * cuts["columns"] * cuts["pair_bytes"] < needed <= memory


def test_a_progress_bar_on_request(capfd, tmp_path):
    DENSE.ntk(X)
    assert capfd.readouterr().err == ""
    DENSE.ntk(X, progress=True)
    assert "49/49" in capfd.readouterr().err
    DENSE.ntk(X, progress=True, store=tmp_path / "store")
    assert "49/49" in capfd.readouterr().err


@pytest.mark.parametrize("others", [None, 5], ids=["symmetric", "across"])
def test_a_tile_on_disk_tells_of_its_parts(others, tmp_path, monkeypatch):
    monkeypatch.setitem(cutting._TARGET, "cpu", 6 * 8)
    x = X.reshape(7, -1)
    x_2 = None if others is None else x[:others]
    problem = evaluating.prepare(DENSE, ("ntk",), x, x_2, Request())
    maker = on_disk.KernelMaker(problem, Request(), tmp_path)
    (place,) = maker.manifest.grid(tmp_path).places()
    told = []
    maker.compute(place, told.append)
    assert len(told) > 4
    assert sum(told) == 7 * (others or 7)


def test_a_kernel_on_disk_is_that_in_memory(tmp_path):
    for x_2 in (None, X[:4]):
        folder = tmp_path / str(x_2 is None)
        tiled = CONV.ntk(X, x_2, store=folder)
        assert isinstance(tiled, tl.TiledGram)
        np.testing.assert_allclose(tiled.to_array(), CONV.ntk(X, x_2), rtol=1e-12)
    nngp = CONV.nngp(X, store=tmp_path / "nngp")
    np.testing.assert_allclose(nngp.to_array(), CONV.nngp(X), rtol=1e-12)


def test_a_kernel_on_disk_is_finished_by_whoever_comes_next(tmp_path, monkeypatch):
    monkeypatch.setitem(cutting._DISK_LARGEST, "cpu", 3)
    store = tmp_path / "store"
    CONV.ntk(X, store=store)
    files = {path: path.read_bytes() for path in store.iterdir()}
    assert len(files) == 7
    gone = store / "tile-00001-00001.npy"
    gone.unlink()
    with pytest.raises(ValueError, match="1 of 6 tiles are missing"):
        tl.open_gram(store)
    monkeypatch.setitem(cutting._DISK_LARGEST, "cpu", 5)  # the plan there is kept
    K = CONV.ntk(X, store=store).to_array()
    np.testing.assert_array_equal(K, K.T)
    assert {path: path.read_bytes() for path in store.iterdir()} == files


def test_a_folder_of_another_kernel_is_refused(tmp_path):
    store = tmp_path / "store"
    CONV.ntk(X, store=store)
    wider = inf.cntk(1, 9)  # another width, the same kernel
    wider.ntk(X, store=store)
    with pytest.raises(ValueError, match="the network is not the same"):
        inf.cntk(2, 4).ntk(X, store=store)
    with pytest.raises(ValueError, match="`kernel` is not the same"):
        CONV.nngp(X, store=store)
    with pytest.raises(ValueError, match="`x_1` is not the same"):
        CONV.ntk(X + 1, store=store)


def test_downstream_takes_these_kernels(tmp_path):
    tiled = DENSE.ntk(X, store=tmp_path / "store")
    found = tl.spectrum(tiled.to_array()).eigenvalues
    np.testing.assert_allclose(found, np.linalg.eigvalsh(DENSE.ntk(X))[::-1], rtol=1e-6)
