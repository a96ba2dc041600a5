import subprocess
import sys

import pytest

SCRIPT = """
import sys
import tangentlab.models
heavy = {"flax", "haiku"} & set(sys.modules)
assert not heavy, heavy
"""
FUNCTIONS_STAY = """
from tangentlab import models
for build in (models.mlp, models.lenet, models.resnet18):
    build((8, 8, 1))
assert all(map(callable, (models.mlp, models.lenet, models.resnet18)))
"""


@pytest.mark.parametrize("script", [SCRIPT, FUNCTIONS_STAY], ids=["light", "stay"])
def test_a_fresh_interpreter_agrees(script):
    subprocess.run([sys.executable, "-c", script], check=True)
