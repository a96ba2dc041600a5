"""Samples over several devices: each computes its rows, and no gradient is summed."""

import os
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp

from tangentlab.kernels.sharded import sharding_of

CHECK = Path(__file__).parent / "sharded_check.py"


def test_eight_devices_compute_what_one_does():
    flags = "--xla_force_host_platform_device_count=8"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, str(CHECK)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_what_lies_on_one_device_is_not_sharded():
    assert sharding_of({"a": jnp.ones(3)}) is None
