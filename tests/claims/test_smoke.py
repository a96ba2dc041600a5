"""The real plan of the smallest scale, from its command to its verdicts."""

import json
import subprocess
import sys

import pytest

from tangentlab.claims import CATALOG

COMMAND = "import sys; from tangentlab import cli; sys.exit(cli.main(sys.argv[1:]))"
ELSEWHERE = {"D5", "D7", "D8"}  # they take MNIST, or the paper's sizes


@pytest.mark.slow
def test_every_claim_of_the_smoke_scale_is_measured(tmp_path):
    # A process of its own: optax's Adam does not run under the tests' strict dtypes.
    words = ["verify", "--scale", "smoke", "--output", str(tmp_path), "--no-progress"]
    command = [sys.executable, "-c", COMMAND, *words]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    by_id = {each["id"]: each for each in verdicts["claims"]}
    assert list(by_id) == list(CATALOG)
    silent = {n for n, each in by_id.items() if each["verdict"] == "not measured"}
    assert silent == ELSEWHERE
    for name, each in by_id.items():
        assert each["verdict"] != "confirmed" or each["findings"], name
        assert bool(each["runs"]) == (name not in ELSEWHERE), name
    assert not any(run["failure"] or run["left_out"] for run in verdicts["runs"])
