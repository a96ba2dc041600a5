"""Products with a matrix on disk, by workers that die.

Real processes on one machine. `make test-faults` runs these.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults
CODE = """
import sys
import jax, numpy as np, tangentlab as tl
from tangentlab.cluster.links import linked

if __name__ == "__main__":
    x = np.random.default_rng(0).normal(size=(600, 5)).astype(np.float32)
    model = tl.models.mlp((5,), widths=(8,))
    params = model.init(jax.random.key(0))
    K = tl.gram(model.apply, params, x, store=sys.argv[1])
    v = np.ones(len(x))
    with linked("local:2") as link, tl.spread(K, link) as there:
        np.testing.assert_allclose(there @ v, K @ v)
        for number in (1, 2):  # one of them, then both
            for worker in list(link.local._workers.values())[:number]:
                worker.kill()
            np.testing.assert_allclose(there @ v, K @ v)
            np.testing.assert_allclose(v @ there, v @ K)
"""


def test_local_workers_that_die_are_started_again(tmp_path):
    (tmp_path / "script.py").write_text(CODE)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "gram")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
