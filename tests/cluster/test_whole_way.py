"""From a network of the zoo to eigenvalues, with workers in processes of their own."""

import json
import re
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab._progress import progress_bar
from tangentlab.cli import main
from tangentlab.cluster.work import State
from tangentlab.kernels.tiled.progress_note import NOTE, ProgressNote, write_note
from tests.networks import dense_apply, dense_params

from .processes import CODE


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "way"
    command = [sys.executable, str(CODE / "whole_way.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout), done.stderr


def test_workers_compute_what_one_process_does(found):
    _, told, errors = found
    assert told["gram"] < 1e-6 and told["ntk"] < 1e-6
    assert not errors


def test_a_plain_call_goes_on_with_a_folder_of_the_cluster(found):
    assert found[1]["same folder"] == 1


def test_what_follows_runs_on_the_cluster(found):
    _, told, _ = found
    assert told["eigenvalues"] < 1e-6 and told["alignment"] < 1e-6
    assert told["ridge"] < 1e-4 and told["across"] < 1e-12


def test_a_sweep_comes_back_in_order(found):
    assert found[1]["swept"] == 1


def test_tasks_are_learned_there_as_here(found):
    _, told, _ = found
    assert told["trained"] < 1e-5 and told["dual"] < 1e-5


def test_samples_that_tasks_share_are_sent_once(found):
    """A file for the samples; a task is its labels and a name."""
    assert found[1]["files"] == 1 and found[1]["task bytes"] < 5_000


def test_every_thread_of_a_worker_keeps_to_its_cores(found):
    assert found[1]["pinned"] == 1


def test_local_workers_listen_on_the_loopback_interface_alone(found):
    assert found[1]["loopback"] == 1


def test_a_network_is_sent_as_its_description(found):
    assert found[1]["saved"] < 20_000


def test_status_from_another_shell(found, capsys):
    folder = found[0] / "gram"
    status = tl.gram_status(folder, check=True)
    assert (status.done, status.total, status.damaged) == (6, 6, ())
    assert status.remaining == 0 and status.note is not None and status.note.finished
    assert main(["gram", "status", str(folder), "--check"]) == 0
    printed = capsys.readouterr().out
    assert "tiles      6 of 6 (100.0%)" in printed and "damaged    none" in printed
    assert re.search("[12] workers, 0 retries, 0 damaged tiles; finished", printed)


def test_status_tells_of_the_cluster_while_it_works(found, capsys):
    folder = found[0] / "gram"
    before = (folder / NOTE).read_bytes()
    here = "http://127.0.0.1:8787/status"
    write_note(folder, ProgressNote(3, 2, 1, here, time.time() - 5, finished=False))
    assert main(["gram", "status", str(folder)]) == 0
    printed = capsys.readouterr().out
    (folder / NOTE).write_bytes(before)
    assert "3 workers, 2 retries, 1 damaged tiles; said so 5 s ago" in printed
    assert f"dashboard  {here}" in printed and "tiles/s" in printed


@pytest.mark.parametrize("columns", ["80", "160"])
def test_one_bar_shows_tiles_rate_time_workers_and_retries(
    columns, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", columns)
    state = State(3, 2, "http://127.0.0.1:8787/status")
    with progress_bar(
        "Gram matrix", 8, show=True, done=2, unit="tiles", note=state.describe
    ) as advance:
        time.sleep(0.01)
        advance(1)
    shown = capsys.readouterr().err
    assert "3/8" in shown and "tiles/s" in shown and "left" in shown
    assert "3 workers, 2 retries, dashboard" in shown
    assert "[link=http://127.0.0.1:8787/status]" in state.describe()
    for silent in ("", "http://[::1]:8787/status"):  # the latter is no markup
        assert State(1, 0, silent).describe() == "1 workers, 0 retries"


def test_status_of_what_is_not_finished(tmp_path, capsys):
    x = np.random.default_rng(0).normal(size=(300, 3))
    params = dense_params(jax.random.key(0), (3, 4, 1))
    tl.gram(dense_apply, params, x, store=tmp_path / "gram")
    for path in sorted((tmp_path / "gram").glob("tile-*"))[1:]:
        path.unlink()
    path = tmp_path / "gram" / "tile-00000-00000.npy"
    content = bytearray(path.read_bytes())
    content[3000] ^= 1
    path.write_bytes(content)
    status = tl.gram_status(tmp_path / "gram", check=True)
    assert status.done == 1 < status.total and status.remaining is None
    assert status.damaged == ("tile-00000-00000.npy",) and status.note is None
    assert main(["gram", "status", str(tmp_path / "gram")]) == 0
    assert f"tiles      1 of {status.total} " in capsys.readouterr().out
    with pytest.raises(FileNotFoundError, match="holds no Gram matrix"):
        tl.gram_status(tmp_path)


def test_export_to_zarr_has_a_chunk_for_each_tile(found, tmp_path):
    import zarr

    K = tl.open_gram(found[0] / "gram")
    tl.to_zarr(K, str(tmp_path / "gram.zarr"))
    stored = zarr.open_array(str(tmp_path / "gram.zarr"), mode="r")
    assert stored.chunks == (K.side, K.side) and stored.dtype == K.dtype
    np.testing.assert_array_equal(np.asarray(stored[:]), K.to_array())
    with pytest.raises(ValueError, match="There is something at .*gram.zarr already"):
        tl.to_zarr(K, str(tmp_path / "gram.zarr"))
    zarr.open_group(str(tmp_path / "group.zarr"), mode="w")
    with pytest.raises(ValueError, match="There is something at .*group.zarr already"):
        tl.to_zarr(K, str(tmp_path / "group.zarr"))


def test_export_to_any_address_of_fsspec(found):
    import fsspec
    import zarr

    K = tl.open_gram(found[0] / "gram")
    tl.to_zarr(K, "memory://somewhere/gram")
    assert fsspec.filesystem("memory").exists("/somewhere/gram/zarr.json")
    stored = zarr.open_array("memory://somewhere/gram", mode="r")
    np.testing.assert_array_equal(np.asarray(stored[300:302]), K[300:302])


def test_infinite_width_from_the_command_line(tmp_path, capsys):
    words = ["--num-samples", "60", "--store", str(tmp_path / "gram"), "--no-progress"]
    wide = ["--infinite", "fc", "--depth", "2", "--kernel", "nngp"]
    assert main(["gram", "run", *words, *wide]) == 0
    assert "TiledGram(60 x 60" in capsys.readouterr().out
    data = tl.data.normalize(tl.data.load("digits"))
    data = tl.data.subset(data, 48, num_test=12, key=jax.random.key(0))
    K = tl.open_gram(tmp_path / "gram").to_array()
    np.testing.assert_allclose(K, tl.infinite.fc(2).nngp(data.x), rtol=1e-5)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--depth", "2"], "depth = 2 and kernel = ntk are of networks of infinite"),
        (["--infinite", "fc", "--precision", "fast"], "float32 or float64"),
        (["--cluster", "nowhere"], "`cluster` must be a scheduler's address"),
    ],
)
def test_options_that_do_not_go_together(words, message, tmp_path, capsys):
    store = ["--store", str(tmp_path / "gram"), "--num-samples", "20"]
    assert main(["gram", "run", *store, *words]) == 1
    assert message in capsys.readouterr().err


def test_compute_from_the_command_line(tmp_path, capsys):
    words = ["--num-samples", "300", "--store", str(tmp_path / "gram")]
    assert main(["gram", "run", *words, "--no-progress"]) == 0
    assert "TiledGram(300 x 300" in capsys.readouterr().out
    assert tl.open_gram(tmp_path / "gram").shape == (300, 300)
