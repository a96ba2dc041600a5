"""The example, and what it shows on real images."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "kernel_regression.py"


def _run(folder, *arguments):
    known = {k: v for k, v in os.environ.items() if k != "TANGENTLAB_DATA"}
    data = {"TANGENTLAB_DATA": str(folder)} if folder else {}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments],
        env=known | data | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {
        name: float(share)
        for name, share in re.findall(
            r"^(\w+):.*\n  ridge regression +([\d.]+)%", done.stdout, re.M
        )
    }


def test_the_example_classifies_digits():
    accuracies = _run(None, "--num-train", "500", "--num-test", "200")
    assert set(accuracies) == {"digits"} and accuracies["digits"] > 88


@pytest.mark.slow
def test_the_example_classifies_real_images(real_data):
    accuracies = _run(real_data)
    assert accuracies["mnist"] > 95 and accuracies["cifar10"] > 28
