"""Runs for the lectures' claims on bounds, random labels, landscapes and kernels."""

from ...experiments.bounds import Bounds
from ...experiments.landscapes import Landscapes
from ...experiments.random_labels import RandomLabels
from ...experiments.universality import Universality
from ...training import Recipe
from ..scales import Run, Runs

_BOUNDS = ("D36", "D37", "D38")
_RANDOM = ("D39",)
_LANDSCAPES = ("D40", "D41")
_KERNELS = ("D42", "D43", "D44")

# Seconds are of a CPU with another run beside, of random_labels of one H200, and of
# universality of a CPU alone: beside one that used all cores it took 112.
_EXACT = (
    Run("landscapes", Landscapes(), _LANDSCAPES, 55),
    Run("universality", Universality(), _KERNELS, 10),
)

RUNS: Runs = {
    "smoke": (
        Run(
            "bounds",
            Bounds(
                sizes=(300, 600), corruptions=(0.0, 1.0), num_test=100, permutations=200
            ),
            _BOUNDS,
        ),
        Run(
            "random_labels",
            RandomLabels(
                num_train=200,
                num_test=200,
                corruptions=(0.0, 0.5, 1.0),
                recipe=Recipe(epochs=70, batch_size=50, schedule="constant"),
            ),
            _RANDOM,
        ),
        Run(
            "landscapes",
            Landscapes(
                num_draws=2000,
                student_widths=(2, 8, 32),
                student_starts=50,
                student_steps=1000,
                network_starts=10,
                network_steps=3000,
                sgd_steps=(100, 1000),
            ),
            _LANDSCAPES,
        ),
        Run(
            "universality",
            Universality(num_train=600, num_test=200, sizes=(200, 400, 800)),
            _KERNELS,
        ),
    ),
    "laptop": (
        Run(
            "bounds",
            Bounds(
                cases=("clusters", "mnist:0,1", "mnist:1,7", "cifar10"),
                sizes=(500, 1000, 2000),
                num_test=500,
            ),
            _BOUNDS,
        ),
        Run(
            "random_labels",
            RandomLabels(
                data="cifar10",
                num_train=1000,
                num_test=1000,
                recipe=Recipe(epochs=150, batch_size=50, schedule="constant"),
            ),
            _RANDOM,
        ),
        *_EXACT,
    ),
    "gpu": (
        Run(
            "bounds",
            Bounds(
                cases=("clusters", "mnist:0,1", "mnist:1,7", "cifar10"),
                sizes=(1000, 3000, 9000),
                num_test=1000,
            ),
            _BOUNDS,
            3000,
        ),
        Run(
            "random_labels",
            RandomLabels(
                data="cifar10",
                model="lenet",
                num_train=10_000,
                num_test=5000,
                recipe=Recipe(epochs=200, batch_size=128, schedule="constant"),
            ),
            _RANDOM,
            80,
        ),
        *_EXACT,
    ),
}
"""What each scale runs for D36 to D44."""
