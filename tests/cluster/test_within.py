"""`local:1`: a worker in the process that asks."""

import os
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import psutil
import pytest

import tangentlab as tl
from tangentlab.cluster import linked, worker
from tangentlab.kernels import host_side, verifying
from tests.networks import dense_apply, dense_params

PARAMS = dense_params(jax.random.key(0), (3, 4, 1))


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(37, 3))


def listening():
    """Addresses that this process accepts connections at."""
    found = psutil.Process().net_connections()
    return {each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN}


def test_the_gram_matrix_is_that_of_a_plain_run(tmp_path, x):
    stored = tmp_path / "plain", tmp_path / "cluster"
    plain = tl.gram(dense_apply, PARAMS, x, store=stored[0])
    there = tl.gram(dense_apply, PARAMS, x, store=stored[1], cluster="local:1")
    np.testing.assert_array_equal(np.asarray(there), np.asarray(plain))
    assert not worker._open  # its arrays are out of memory
    assert not (stored[1] / "inputs").exists()  # where they were found all the time


def test_a_kernel_that_was_found_wrong_is_trusted_by_nobody(tmp_path, x, monkeypatch):
    monkeypatch.setattr(verifying, "_mismatches", lambda *_: [0])

    def apply(params, x):  # read for the first time
        return dense_apply(params, x)

    for options in ({"store": tmp_path, "cluster": "local:1"}, {}):
        with pytest.raises(RuntimeError, match="differs from that of plain gradients"):
            tl.gram(apply, PARAMS, x, **options)


def test_a_second_call_compiles_nothing(tmp_path, x):
    def apply(params, x):
        return dense_apply(params, x)

    misses = []
    for name in ("first", "second"):
        tl.gram(apply, PARAMS, x, store=tmp_path / name, cluster="local:1")
        misses.append(host_side._compiled.cache_info().misses)
    assert misses[0] == misses[1]


def test_calls_in_several_threads_do_not_take_each_others_arrays(tmp_path, x):
    plain = np.asarray(tl.gram(dense_apply, PARAMS, x, store=tmp_path / "plain"))

    def one(k):
        store = tmp_path / str(k)
        return np.asarray(
            tl.gram(dense_apply, PARAMS, x, store=store, cluster="local:1")
        )

    with ThreadPoolExecutor(2) as pool:
        for K in pool.map(one, range(4)):
            np.testing.assert_array_equal(K, plain)


def test_it_is_this_process_and_only_loopback_is_listened_to():
    with linked("local:1") as link:
        assert link.client.scheduler.address.startswith("inproc://")
        assert link.client.submit(os.getpid).result() == os.getpid()
        assert listening() <= {"127.0.0.1"}


def test_an_error_comes_back_and_the_next_call_works():
    with pytest.raises(ZeroDivisionError):
        tl.cluster.sweep(lambda k: 1 / k, [1, 0], cluster="local:1")
    assert tl.cluster.sweep(lambda k: k * k, [1, 2], cluster="local:1") == [1, 4]


def test_types_are_those_of_the_caller(tmp_path, x):
    with jax.enable_x64(False):
        K = tl.gram(dense_apply, PARAMS, x, store=tmp_path, cluster="local:1")
    assert K.dtype == np.float32
