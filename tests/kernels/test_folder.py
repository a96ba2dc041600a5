"""Folders that cannot be filled are refused before any work is done."""

import os
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.networks import dense_apply, dense_params

PARAMS = dense_params(jax.random.key(0), (3, 5, 2))
X = np.random.default_rng(0).normal(size=(20, 3))


def _gram(store, *, apply=dense_apply):
    return tl.gram(apply, PARAMS, X, store=store)


def _never(params, x):
    raise AssertionError("work was done before the folder was looked at")


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="no manifest.json and holds thesis.tex"):
        _gram(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="`store` must be a folder, .* is a file"):
        _gram(tmp_path / "file", apply=_never)
    with pytest.raises(OSError, match="`store` cannot be written to"):
        _gram(tmp_path / "file" / "below", apply=_never)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    folder, user = tmp_path / "store", os.geteuid()
    folder.mkdir(mode=0o555)
    if user == 0:  # who may do everything, and so becomes nobody
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError, match="`store` cannot be written to"):
            _gram(folder, apply=_never)
    finally:
        os.seteuid(user)


def test_jit_and_files_do_not_go_together(tmp_path):
    with pytest.raises(ValueError, match="outside of `jit`"):
        jax.jit(lambda x: tl.gram(dense_apply, PARAMS, x, store=tmp_path / "s"))(X)
    assert not (tmp_path / "s").exists()


def test_captured_tracers_and_files_do_not_go_together(tmp_path):
    def kernel(s):
        apply = lambda p, x: s * dense_apply(p, x)  # noqa: E731
        return tl.gram(apply, PARAMS, X, store=tmp_path / "s")

    with pytest.raises(ValueError, match="outside of `jit`"):
        jax.jit(kernel)(2.0)


def test_a_disk_that_is_too_small_is_refused_before_any_work(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    n = int(2 * (free / 4) ** 0.5)  # in float32, half of it: four times what is free
    params = jnp.ones((1, 1), jnp.float32)
    x = np.ones((n, 1), np.float32)
    with pytest.raises(OSError, match=r"take [\d,]+ bytes, but only [\d,]+ are free"):
        tl.gram(lambda w, x: x @ w, params, x, store=tmp_path)
    assert not list(tmp_path.iterdir())
