"""A Gram matrix sharded over several devices, here of one host, in its own process."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_enable_x64", True)
import tangentlab as tl

assert len(jax.devices()) == 4
rng = np.random.default_rng(0)
x = rng.standard_normal((32, 20))
tasks = [tl.Task(x, (x[:, i] > 0).astype(float), 24) for i in range(3)]
K, q = x @ x.T, x @ rng.standard_normal(20)
recipe = tl.Recipe(epochs=3, batch_size=5, learning_rate=0.01, weight_decay=0.1)
options = {"key": jax.random.key(0), "origin": (q, 20.0)}
f_0 = jax.device_put(np.zeros(32), jax.devices()[0])
expected = tl.train_dual(K, f_0, tasks, recipe, **options)
mesh = Mesh(np.array(jax.devices()), ("device",))
for axes in (("device", None), (None, "device")):
    sharded = jax.device_put(K, NamedSharding(mesh, PartitionSpec(*axes)))
    assert len(sharded.sharding.device_set) == 4
    got = tl.train_dual(sharded, f_0, tasks, recipe, **options)
    for field in ("outputs", "train_loss", "test_loss", "distance", "cosine"):
        wanted = getattr(expected, field)
        np.testing.assert_allclose(getattr(got, field), wanted, rtol=1e-10)
"""


def test_a_sharded_gram_matrix_gives_the_same_training():
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **devices, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        pytest.fail(run.stderr)
