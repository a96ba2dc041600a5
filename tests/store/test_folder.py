import json
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import store
from tangentlab.store import config as store_config
from tangentlab.store import folder as store_folder
from tests.toy_experiment import CONFIGS, Walk, make_run


def test_a_run_is_named_by_time_experiment_and_config(tmp_path):
    names = [make_run(tmp_path, Walk(seed=seed)).name for seed in (0, 1)]
    dates, times, experiments, hashes = zip(*(n.split("-") for n in names), strict=True)
    assert all(
        datetime.strptime(d + t, "%Y%m%d%H%M%S")
        for d, t in zip(dates, times, strict=True)
    )
    assert set(experiments) == {"walk"}
    assert len(set(hashes)) == 2
    assert hashes[0] == store_config.config_hash("walk", Walk(seed=0))


def test_runs_of_one_second_never_overwrite_each_other(tmp_path, monkeypatch):
    frozen = datetime(2026, 1, 2, 3, 4, 5)
    monkeypatch.setattr(store_folder, "now", lambda: frozen)
    first = make_run(tmp_path)
    before = (first / "config.json").stat().st_mtime_ns
    with store.create(tmp_path, "walk", Walk()) as second:
        with store.create(tmp_path, "walk", Walk()) as third:
            pass
    names = [first.name, second.final.name, third.final.name]
    stem = f"20260102-030405-walk-{store_config.config_hash('walk', Walk())}"
    assert names == [stem, f"{stem}-2", f"{stem}-3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert (first / "config.json").stat().st_mtime_ns == before


def test_a_run_has_its_final_name_only_when_it_is_whole(tmp_path):
    with store.create(tmp_path, "walk", Walk()) as folder:
        assert folder.path.is_dir()
        assert not folder.final.exists()
        folder.save_arrays("numbers", a=np.arange(3))
    assert folder.final.is_dir()
    assert not folder.path.exists()


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_failed_run_is_kept_and_says_where(tmp_path, kind):
    with pytest.raises(kind) as caught:
        with store.create(tmp_path, "walk", Walk()) as folder:
            folder.save_arrays("numbers", a=np.arange(3))
            raise kind("stop")
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith(".") and kept.name.endswith(".partial")
    assert (kept / "numbers.npz").is_file()
    assert caught.value.__notes__ == [
        f"The unfinished run is kept in {kept}; the same command with --resume goes on "
        "from there."
    ]
    with pytest.raises(ValueError, match="is an unfinished run.*To go on.* --resume$"):
        store.open_run(kept, CONFIGS)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_run_that_failed_before_it_wrote_anything_leaves_nothing(tmp_path, kind):
    with pytest.raises(kind) as caught:
        with store.create(tmp_path, "walk", Walk()) as folder:
            assert (folder.path / "config.json").is_file()
            raise kind("a typo")
    assert list(tmp_path.iterdir()) == []
    assert not hasattr(caught.value, "__notes__")


KILLED = """
import sys, time
from pathlib import Path
import numpy as np
from tangentlab import store
from tests.toy_experiment import Walk
with store.create(Path(sys.argv[1]), "walk", Walk()) as folder:
    folder.save_arrays("numbers", a=np.arange(3))
    folder.log(epoch=0)
    print("written", flush=True)
    time.sleep(60)
"""


def test_a_killed_process_leaves_only_a_partial_run(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=30) == -signal.SIGKILL
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith(".") and kept.name.endswith(".partial")
    assert json.loads((kept / "config.json").read_text())["experiment"] == "walk"
    with np.load(kept / "numbers.npz") as archive:
        np.testing.assert_array_equal(archive["a"], np.arange(3))
    with pytest.raises(ValueError, match="unfinished run"):
        store.open_run(kept, CONFIGS)


def test_metrics_take_numpy_and_jax_values_and_write_strict_json(tmp_path):
    with store.create(tmp_path, "walk", Walk()) as folder:
        folder.log(a=np.float32(0.5), b=jnp.asarray(3), c=jnp.arange(2.0), d="x\u2028y")
        folder.log(e=float("nan"), f=[1.0, -np.inf], g=np.bool_(True), h={"i": None})
    text = (folder.final / "metrics.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text
    assert store.open_run(folder.final, CONFIGS).metrics() == [
        {"a": 0.5, "b": 3, "c": [0.0, 1.0], "d": "x\u2028y"},
        {"e": None, "f": [1.0, None], "g": True, "h": {"i": None}},
    ]


def test_a_metric_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(TypeError, match="must be a number, string or array.*object"):
        with store.create(tmp_path, "walk", Walk()) as folder:
            folder.log(loss=object())


def test_arrays_may_have_any_name_and_come_from_jax(tmp_path):
    with store.create(tmp_path, "walk", Walk()) as folder:
        folder.save_arrays("odd", file=jnp.ones(2), name=np.array(["a"]), self=True)
    arrays = store.open_run(folder.final, CONFIGS).arrays("odd")
    np.testing.assert_array_equal(arrays["file"], np.ones(2))
    assert arrays["name"].tolist() == ["a"]
    assert arrays["self"].item() is True


@pytest.mark.parametrize(
    "bad",
    [np.array([{}, None]), jnp.ones(2, jnp.bfloat16), np.zeros(2, [("x", "f4")])],
    ids=["object", "bfloat16", "record"],
)
def test_arrays_that_would_not_load_back_are_refused(tmp_path, bad):
    with pytest.raises(ValueError, match="`numbers.a` has dtype .* without pickle"):
        with store.create(tmp_path, "walk", Walk()) as folder:
            folder.save_arrays("numbers", a=bad)
    assert not list(tmp_path.rglob("*.npz"))


def test_arrays_are_saved_once(tmp_path):
    with pytest.raises(FileExistsError, match="'numbers' were already saved"):
        with store.create(tmp_path, "walk", Walk()) as folder:
            folder.save_arrays("numbers", a=np.ones(1))
            folder.save_arrays("numbers", a=np.zeros(1))


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b"])
def test_names_must_be_file_names(tmp_path, name):
    with pytest.raises(ValueError, match="name of experiment becomes a file name"):
        with store.create(tmp_path, name, Walk()):
            pass
    with pytest.raises(ValueError, match="name of arrays becomes a file name"):
        with store.create(tmp_path, "walk", Walk()) as folder:
            folder.save_arrays(name, a=np.ones(1))


def test_a_root_that_is_a_file_is_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(OSError, match="Cannot keep runs in .*file: File exists"):
        make_run(file)
