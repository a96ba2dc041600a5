import subprocess
import sys

SCRIPT = """
import sys
from tangentlab import models
heavy = {"flax", "haiku"} & set(sys.modules)
assert not heavy, heavy
for build in (models.mlp, models.lenet, models.resnet18):
    build((8, 8, 1))
# No module of the same name has taken their place.
assert all(map(callable, (models.mlp, models.lenet, models.resnet18)))
"""


def test_importing_the_stage_leaves_flax_and_haiku_alone():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
