import json
import zipfile

import numpy as np
import pytest

from tangentlab import store
from tests.toy_experiment import CONFIGS, Step, Walk, make_run


def test_a_run_reads_back_as_it_was_written(tmp_path):
    config = Walk(
        lengths=(1,), start=(3, 0.25), folder=tmp_path, step=Step(0.1), kind="broken"
    )
    run = store.open_run(make_run(tmp_path, config), CONFIGS)
    assert run.config == config
    assert type(run.config.step) is Step
    assert run.experiment == "walk"
    assert run.metrics() == [{"epoch": 0, "loss": 1.5}]
    arrays = run.arrays("numbers")
    assert sorted(arrays) == ["a", "b"]
    np.testing.assert_array_equal(arrays["a"], np.arange(3))
    np.testing.assert_array_equal(arrays["b"], np.eye(2))


def test_a_renamed_partial_run_is_still_unfinished(tmp_path):
    with pytest.raises(RuntimeError):
        with store.create(tmp_path, "walk", Walk()) as folder:
            folder.log(epoch=0)
            raise RuntimeError
    (kept,) = tmp_path.iterdir()
    renamed = kept.rename(tmp_path / "looks-finished")
    with pytest.raises(ValueError, match="unfinished run"):
        store.open_run(renamed, CONFIGS)


def test_missing_or_empty_metrics_are_named(tmp_path):
    path = make_run(tmp_path)
    run = store.open_run(path, CONFIGS)
    for content in ("", "\n"):
        (path / "metrics.jsonl").write_text(content)
        with pytest.raises(ValueError, match=r"metrics.jsonl is empty. .* run the exp"):
            run.metrics()
    (path / "metrics.jsonl").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no metrics.jsonl: the folder is"):
        run.metrics()


@pytest.mark.parametrize("command", [{}, {"command": None}])
def test_a_manifest_without_a_command_is_named(tmp_path, command):
    path = make_run(tmp_path)
    (path / "manifest.json").write_text(json.dumps({"ended": "today", **command}))
    with pytest.raises(ValueError, match=r"manifest.json does not say by which `comm"):
        store.open_run(path, CONFIGS)


def test_a_pickled_array_is_never_loaded(tmp_path):
    path = make_run(tmp_path)
    np.savez(path / "evil.npz", a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="evil.npz cannot be read.*allow_pickle"):
        store.open_run(path, CONFIGS).arrays("evil")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut off"])
def test_a_damaged_array_file_is_named(tmp_path, content):
    path = make_run(tmp_path)
    (path / "numbers.npz").write_bytes(content)
    with pytest.raises(ValueError, match="numbers.npz cannot be read"):
        store.open_run(path, CONFIGS).arrays("numbers")


def test_a_single_array_is_no_archive(tmp_path):
    path = make_run(tmp_path)
    with (path / "numbers.npz").open("wb") as file:
        np.save(file, np.ones(2))
    with pytest.raises(ValueError, match="cannot be read .a single array"):
        store.open_run(path, CONFIGS).arrays("numbers")


def test_a_flipped_byte_in_an_array_is_noticed(tmp_path):
    path = make_run(tmp_path)
    file = path / "numbers.npz"
    with zipfile.ZipFile(file) as archive:
        start = archive.getinfo("b.npy").header_offset
    content = bytearray(file.read_bytes())
    content[start + 200] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="numbers.npz cannot be read.*CRC"):
        store.open_run(path, CONFIGS).arrays("numbers")


def test_missing_arrays_list_those_there_are(tmp_path):
    run = store.open_run(make_run(tmp_path), CONFIGS)
    with pytest.raises(FileNotFoundError, match="no arrays 'gram'.*There are: numbers"):
        run.arrays("gram")


@pytest.mark.parametrize("name", ["config.json", "manifest.json"])
def test_corrupt_json_is_named_with_its_line(tmp_path, name):
    path = make_run(tmp_path)
    lines = (path / name).read_text().splitlines()
    (path / name).write_text("\n".join([lines[0], "oops", *lines[2:]]))
    with pytest.raises(ValueError, match=f"{name}, line 2: not valid JSON"):
        store.open_run(path, CONFIGS)
    (path / name).write_text("[1]")
    with pytest.raises(ValueError, match=f"{name}, line 1: expected a JSON object"):
        store.open_run(path, CONFIGS)
    (path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=f"{name}: not a UTF-8 text file"):
        store.open_run(path, CONFIGS)


def test_a_corrupt_metric_is_named_with_its_line(tmp_path):
    path = make_run(tmp_path)
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"epoch": \n')
    with pytest.raises(ValueError, match="metrics.jsonl, line 2: not valid JSON"):
        store.open_run(path, CONFIGS).metrics()


def test_what_is_no_run_folder_is_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match="no run folder .*nowhere"):
        store.open_run(tmp_path / "nowhere", CONFIGS)
    with pytest.raises(ValueError, match="not a run folder: it has no config.json"):
        store.open_run(tmp_path, CONFIGS)
    path = make_run(tmp_path)
    (path / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match="has no manifest.json"):
        store.open_run(path, CONFIGS)
