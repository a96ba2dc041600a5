"""What measures anisotropy directions, D18 and D19, and the paper's identities.

At the smallest scale directions of several initializations are found but not learned:
an interval over initializations takes five of them.
"""

from ...experiments.identities import Identities
from ...experiments.nads import NadStudy
from ...training import Recipe
from ..scales import Run, Runs

_IDENTITIES = ("D15", "D16", "D17", "D22", "D23")
_BOTH = ("D18", "D19")

RUNS: Runs = {
    "smoke": (
        Run(
            "identities",
            Identities(
                num_samples=150, num_draws=40_000, resnet_width=8, image_size=16
            ),
            _IDENTITIES,
            40,
            beside=("resnet18",),
        ),
        Run(
            "nads",
            NadStudy(model="mlp", size=8, num_average=64, only_pictures=True, seeds=5),
            ("D18",),
        ),
        Run(
            "nads",
            NadStudy(
                size=8,
                num_average=16,
                num_train=320,
                num_test=1000,
                linearized_in="weights",  # one program for all directions
                recipe=Recipe(epochs=12, batch_size=32),
            ),
            ("D19",),
            40,
        ),
    ),
    "laptop": (
        Run(
            "identities",
            Identities(data="cifar10", num_draws=65_536, seeds=5),
            _IDENTITIES,
            beside=("resnet18",),
        ),
        Run(
            "nads",
            NadStudy(
                num_average=64,
                num_train=1024,
                num_test=512,
                seeds=5,
                recipe=Recipe(epochs=15),
            ),
            _BOTH,
        ),
    ),
}
"""Small data; `paper_sizes` has the rest."""
