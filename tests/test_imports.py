"""`import tangentlab` pulls in the core alone."""

import subprocess
import sys


def test_import_is_light():
    heavy = "flax haiku diffrax matplotlib rich tyro plotly pandas sklearn".split()
    heavy += "dask distributed zarr fsspec".split()
    loaded = f"[m for m in {[*heavy, 'tangentlab.cli']} if m in sys.modules]"
    code = f"import sys, tangentlab; print({loaded})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_import_leaves_jax_alone():
    code = (
        "import jax; before = dict(jax.config.values); import tangentlab; "
        "print(before == jax.config.values)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
