r"""Kernels at initialization: formulas, finite width, and depth over width.

Three questions. Are the lectures' closed forms right? They are compared with Gaussian
integrals by quadrature. How fast does the kernel of a finite network reach its limit?
Networks of growing width are drawn again and again. And is it the width that counts?
The kernel of a deep network fluctuates with depth over width.
"""

from dataclasses import dataclass
from typing import Literal

import jax
import numpy as np

from ..._checks import check_known
from ..._progress import progress_bar
from ...store import RunFolder
from .formulas import compare_formulas
from .networks import NETWORKS, draw_errors, draw_fluctuations

NetworkName = Literal["first layer", "two layers", "tanh", "deep"]


@dataclass(frozen=True)
class KernelLimit:
    """Compare kernels of finite networks with those of infinite width."""

    networks: tuple[NetworkName, ...] = ("first layer", "two layers", "tanh", "deep")
    """Networks: the UBC lecture's (ReLU, the first layer trained), the CentraleSupelec
    lecture's (ReLU, both layers trained), one of tanh, and one of three hidden ReLU
    layers."""
    widths: tuple[int, ...] = (32, 64, 128, 256, 512, 1024, 2048)
    """Units of each hidden layer; five widths are needed for a verdict."""
    num_draws: int = 40
    """Initializations of each width; twenty are needed for a verdict."""
    num_samples: int = 20
    """Samples, uniform on a sphere."""
    dim: int = 10
    """Dimension of their space."""
    num_cosines: int = 41
    """Angles at which formulas are compared with integrals."""
    num_units: int = 100_000
    """Random units behind the Monte Carlo marks beside the formulas."""
    depths: tuple[int, ...] = (1, 2, 4, 8, 16)
    """Hidden layers of the networks whose kernel fluctuates; may be empty."""
    deep_widths: tuple[int, ...] = (16, 32, 64)
    """Their widths."""
    num_deep_draws: int = 2000
    """Initializations of each of them."""
    seed: int = 0
    """Decides all draws."""


def run(config: KernelLimit, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    keys = jax.random.split(jax.random.key(config.seed), 3)
    pairs = [(depth, m) for depth in config.depths for m in config.deep_widths]
    total = 1 + len(config.networks) * len(config.widths) + len(pairs)
    with (
        jax.enable_x64(True),
        progress_bar("Kernels", total, show=progress, unit="widths") as advance,
    ):
        if not folder.has_arrays("formulas"):
            found = compare_formulas(config.num_cosines, config.num_units, config.seed)
            folder.save_arrays("formulas", **found)
        advance(1)
        for number, name in enumerate(config.networks):
            key = jax.random.fold_in(keys[0], number)
            _compute_widths(config, name, key, folder, advance)
        for number, (depth, width) in enumerate(pairs):
            name = f"deep-{depth}-{width}"
            if not folder.has_arrays(name):
                key = jax.random.fold_in(keys[1], number)
                drawn = draw_fluctuations(depth, width, config.num_deep_draws, key)
                folder.save_arrays(name, **drawn)
            advance(1)
    _log(config, folder)


def stem(name: str, width: int) -> str:
    """Name of the arrays of a network and width.

    Args:
        name: The network.
        width: The width.

    Returns:
        Such as `two-layers-64`.
    """
    return f"{name.replace(' ', '-')}-{width}"


def _compute_widths(config: KernelLimit, name: str, key, folder: RunFolder, advance):
    rng = np.random.default_rng(config.seed)
    z = rng.normal(size=(config.num_samples, config.dim))
    x = z / np.linalg.norm(z, axis=1, keepdims=True)
    for number, width in enumerate(config.widths):
        if not folder.has_arrays(stem(name, width)):
            draws = jax.random.split(jax.random.fold_in(key, number), config.num_draws)
            errors = draw_errors(NETWORKS[name], x, width, draws)
            folder.save_arrays(stem(name, width), errors=errors)
        advance(1)


def _log(config: KernelLimit, folder: RunFolder) -> None:
    formulas = folder.arrays("formulas")
    folder.log(
        **{name: values for name, values in formulas.items() if name.endswith("error")}
    )
    for name in config.networks:
        for width in config.widths:
            errors = folder.arrays(stem(name, width))["errors"]
            folder.log(network=name, width=width, error=errors.mean())


def _check(config: KernelLimit) -> None:
    for name in config.networks:
        check_known("network", name, NETWORKS)
    if len(set(config.widths)) < 2 or config.num_draws < 2:
        raise ValueError(
            "A slope needs two different widths and two draws at least, got widths "
            f"{config.widths} and num_draws={config.num_draws}."
        )
    if config.num_cosines < 2 or config.num_deep_draws < 2:
        raise ValueError(
            "num_cosines and num_deep_draws must be at least 2, got "
            f"{config.num_cosines} and {config.num_deep_draws}."
        )
