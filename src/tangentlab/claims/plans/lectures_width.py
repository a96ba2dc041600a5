"""What measures the lectures' claims on width, laziness and dynamics.

D24 to D35, D45 and D48. None of it gains from a larger data set; larger scales take
more widths, draws and seeds, and images in place of points on a sphere.
"""

from ...experiments.flow import Flow
from ...experiments.kernel_limit import KernelLimit
from ...experiments.lazy import Lazy
from ...experiments.linearization import Linearization
from ...experiments.losses import Losses
from ...experiments.wide_training import WideTraining
from ..scales import Run, Runs

_LINEARIZATION = ("D24", "D25", "D26")
_KERNEL = ("D27", "D28", "D29")
_WIDE = ("D33", "D34")
_FLOW = ("D30", "D31", "D32", "D45")

_SMOKE = (
    Run(
        "linearization",
        Linearization(
            widths=(64, 512),
            depths=(1,),
            distances=(0.3, 1.0, 3.0),
            seeds=5,
            smooth=("tanh",),
            smooth_widths=(64,),
            smooth_radii=(0.3,),
            relu_widths=(1000, 4000, 16_000, 64_000),
            relu_draws=100,
        ),
        _LINEARIZATION,
    ),
    Run(
        "kernel_limit",
        KernelLimit(
            networks=("first layer", "two layers"),
            widths=(32, 64, 128, 256, 512),
            num_draws=40,
            num_samples=10,
            num_cosines=21,
            depths=(),
        ),
        _KERNEL,
    ),
    Run(
        "wide_training",
        WideTraining(widths=(128, 512, 2048), multipliers=(), seeds=8),
        _WIDE,
    ),
    Run("lazy", Lazy(scales=(4.0, 16.0, 64.0), seeds=5, num_criteria=0), ("D35",)),
    Run("flow", Flow(width=128, num_test=10, num_times=15), _FLOW),
    Run("losses", Losses(width=256, num_train=30, per_decade=3), ("D48",)),
)

_LAPTOP = (
    Run("linearization", Linearization(), _LINEARIZATION),
    Run("kernel_limit", KernelLimit(), _KERNEL),
    Run("wide_training", WideTraining(), _WIDE),
    Run(
        "wide_training",
        WideTraining(
            data="cifar10",
            num_train=50,
            widths=(128, 512, 2048),
            multipliers=(),
            seeds=5,
        ),
        _WIDE,
    ),
    Run("lazy", Lazy(), ("D35",)),
    Run("flow", Flow(), _FLOW),
    Run("losses", Losses(data="mnist", num_train=100, num_test=1000), ("D48",)),
)

# Seconds are of a CPU with another run beside, and of wide_training of one H200.
_GPU = (
    Run("linearization", Linearization(seeds=20, relu_draws=500), _LINEARIZATION, 175),
    Run("kernel_limit", KernelLimit(num_draws=100), _KERNEL, 95),
    Run(
        "wide_training",
        WideTraining(
            data="cifar10",
            num_train=100,
            num_test=100,
            depth=2,
            widths=(128, 256, 512, 1024, 2048, 4096),
            multipliers=(),
        ),
        _WIDE,
        185,
    ),
    Run("lazy", Lazy(seeds=20), ("D35",), 30),
    Run("flow", Flow(width=1024, seeds=10), _FLOW, 30),
    Run("losses", Losses(data="cifar10", num_train=200, num_test=2000), ("D48",), 30),
)

RUNS: Runs = {"smoke": _SMOKE, "laptop": _LAPTOP, "gpu": _GPU}
"""The runs of each scale."""
