"""What is published beside the tiles is read as it was, or not at all."""

import resource
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.cluster.published import (
    Array,
    as_computed,
    load,
    publish,
    publish_here,
)

TREE = {
    "w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "half": jnp.ones((3,), jnp.bfloat16) / 3,
    "one": 2.5,
    "mask": np.array([True, False]),
    "complex": np.array([1.0 + 2.0j]),
    "wide": np.random.default_rng(0).normal(size=(300, 100)),
}


def test_every_kind_of_array_comes_back(tmp_path):
    found = load(publish(TREE, tmp_path), tmp_path, check=True)
    assert jax.tree.structure(found) == jax.tree.structure(TREE)
    for name, value in TREE.items():
        assert found[name].dtype == jnp.result_type(value)
        np.testing.assert_array_equal(found[name], np.asarray(value))
    assert isinstance(found["wide"], np.memmap)


def test_in_this_process_arrays_are_found_as_long_as_somebody_holds_them(tmp_path):
    held = as_computed(TREE)
    published = publish_here(held)
    found = load(published, tmp_path, check=True)
    assert all(found[name] is held[name] for name in TREE)
    in_files = publish(TREE, tmp_path)
    names = [[array.name for array in p.arrays] for p in (published, in_files)]
    assert names[0] == names[1]
    held["half"] = found["half"] = np.zeros(3)
    with pytest.raises(KeyError):
        load(published, tmp_path, check=True)


def test_headers_are_parsed_one_at_a_time(tmp_path, monkeypatch):
    """Two at once end in a SystemError of Python 3.11, now and then."""
    published, inside, plain = publish(TREE, tmp_path), [], np.load

    def watched(*args, **options):
        inside.append(1)
        assert len(inside) == 1
        time.sleep(0.002)
        inside.pop()
        return plain(*args, **options)

    monkeypatch.setattr(np, "load", watched)
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(load, published, tmp_path, check=True) for _ in range(8)]
        assert all(each.result().keys() == TREE.keys() for each in done)


def test_equal_arrays_are_written_once(tmp_path):
    publish(TREE, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "inputs").iterdir()}
    publish((TREE, TREE["w"]), tmp_path)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "inputs").iterdir()}
    assert before == after and len(after) == len(TREE)


def test_a_changed_file_is_refused(tmp_path):
    published = publish(TREE["w"], tmp_path)
    path = published.arrays[0].path(tmp_path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not what was published. Delete it"):
        load(published, tmp_path, check=True)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="need the same folder"):
        load(published, tmp_path, check=True)


def test_pickles_are_never_read(tmp_path):
    published = publish(TREE["w"], tmp_path)
    path = published.arrays[0].path(tmp_path)
    path.unlink()
    np.save(path, np.array([{"a": print}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load(published, tmp_path, check=True)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "A" * 64, "0" * 63])
def test_names_cannot_lead_out_of_the_folder(name, tmp_path):
    with pytest.raises(ValueError, match="names no published array"):
        Array(name, "float32").path(tmp_path)


def test_a_full_disk_says_what_to_do(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=r"\(240,000 bytes\) cannot .* Make room, or"):
            publish(TREE["wide"], tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list((tmp_path / "inputs").iterdir())


def test_random_keys_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Only arrays of numbers.*key_data"):
        publish(jax.random.key(0), tmp_path)
