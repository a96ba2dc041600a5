r"""Where gradient descent gets stuck, and where it does not.

One ReLU unit has a flat bad minimum, a sum of them is stuck with probability $2^{-m}$,
and networks that learn from a small one find the global minimum the wider they are.
Deep linear networks have saddles, at 0 even without negative curvature, and no bad
minimum: every descent that converges is at the global value, and leaving the saddle
takes longer with depth. Stochastic gradients become small at the rate of the theorem.

Reference:
    The UBC lecture (CPSC 532S, March 2022); Kawaguchi, "Deep learning without poor
    local minima", NeurIPS 2016; Khaled and Richtarik, "Better theory for SGD in the
    nonconvex world", 2020.
"""

import dataclasses
from typing import Any

import jax
import numpy as np

from ... import theory
from ..._progress import progress_bar
from ...store import RunFolder
from .linear_networks import descend_networks, escape_time
from .stochastic import best_gradients
from .students import student_losses
from .units import descend_units, stuck_shares


@dataclasses.dataclass(frozen=True)
class Landscapes:
    """Look for bad minima and saddles, and at what gradient descent does there."""

    num_starts: int = 200
    """Standard normal starts of one ReLU unit."""
    units: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Numbers of ReLU units in a sum, for the chance to be stuck."""
    num_draws: int = 20_000
    """Starts for each of these."""
    student_widths: tuple[int, ...] = (2, 3, 4, 6, 8, 12, 16, 32, 64)
    """Hidden units of ReLU networks that learn the outputs of a smaller one."""
    teacher_units: int = 2
    """Hidden units of that one, at most as many as the students have."""
    student_starts: int = 200
    """Random starts of each width, each with samples and a teacher of its own."""
    student_steps: int = 10_000
    """Steps of gradient descent from each."""
    depths: tuple[int, ...] = (2, 3, 4)
    """Weight matrices of deep linear networks."""
    width: int = 2
    """Their hidden units, fewer than the rank of the targets."""
    network_starts: int = 40
    """Random starts of each deep linear network."""
    network_steps: int = 5000
    """Steps of gradient descent from each, a multiple of 100."""
    chain_depths: tuple[int, ...] = (2, 3, 4, 5, 6)
    """Weights of chains, for Hessians at 0 and for the time to leave it."""
    chain_starts: tuple[float, ...] = (0.1, 0.2, 0.4)
    """What all weights of a chain start from."""
    sgd_steps: tuple[int, ...] = (100, 300, 1000, 3000, 10_000, 30_000)
    """Numbers of stochastic steps."""
    sgd_runs: int = 20
    """Runs for each of these."""
    sgd_variance: float = 4.0
    """Variance of the noise in a gradient."""
    seed: int = 0
    """Decides all draws."""


def run(config: Landscapes, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; parts that are there are not computed again.
        progress: Show a progress bar.
    """
    _check(config)
    parts = {
        "unit": _unit,
        "stuck": _stuck,
        "students": _students,
        "saddle": _saddles,
        "networks": _networks,
        "escape": _escapes,
        "sgd": _sgd,
    }
    with progress_bar("Landscapes", len(parts), show=progress) as advance:
        for name, compute in parts.items():
            if not folder.has_arrays(name):
                with jax.enable_x64(True):
                    folder.save_arrays(name, **compute(config))
            advance(1)
    folder.log(
        stuck_share=folder.arrays("stuck")["shares"],
        student_loss=np.median(folder.arrays("students")["losses"], axis=1),
        escape_time=folder.arrays("escape")["measured"],
        final_loss=folder.arrays("networks")["losses"][:, :, -1],
    )


def _unit(config: Landscapes) -> dict[str, np.ndarray]:
    starts = np.random.default_rng([config.seed, 0]).normal(size=config.num_starts)
    return {"starts": starts, "ends": descend_units(starts, 0.1, 400)}


def _stuck(config: Landscapes) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([config.seed, 1])
    shares = stuck_shares(config.units, config.num_draws, 0.9, 100, rng)
    expected = np.array([theory.stuck_probability(num) for num in config.units])
    return {"shares": shares, "expected": expected}


def _students(config: Landscapes) -> dict[str, np.ndarray]:
    options = config.teacher_units, config.student_starts, config.student_steps
    made = [
        student_losses(width, *options, config.seed) for width in config.student_widths
    ]
    return {"losses": np.stack(made)}


def _saddles(config: Landscapes) -> dict[str, np.ndarray]:
    """Smallest and largest eigenvalue of the Hessian at 0, by autodiff, by depth."""

    @jax.jit
    def derivatives(w: Any) -> tuple[Any, Any]:
        return jax.grad(theory.chain_loss)(w), jax.hessian(theory.chain_loss)(w)

    ends, gradients = [], []
    for depth in config.chain_depths:
        gradient, H = map(np.asarray, derivatives(np.zeros(depth)))
        values = np.linalg.eigvalsh(H)
        ends.append((values[0], values[-1]))
        gradients.append(np.abs(gradient).max())
    return {"eigenvalues": np.array(ends), "gradients": np.array(gradients)}


def _networks(config: Landscapes) -> dict[str, np.ndarray]:
    made = [
        descend_networks(
            depth,
            config.width,
            config.network_starts,
            config.network_steps,
            0.02,
            config.seed,
        )
        for depth in config.depths
    ]
    return {
        "losses": np.stack([each.losses for each in made]),
        "gradient_norms": np.stack([each.gradient_norms for each in made]),
        "minimum": np.array([each.minimum for each in made]),
    }


def _escapes(config: Landscapes) -> dict[str, np.ndarray]:
    pairs = [(d, s) for d in config.chain_depths for s in config.chain_starts]
    shape = len(config.chain_depths), len(config.chain_starts)
    expected = [theory.chain_escape_time(*pair) for pair in pairs]
    # A five-hundredth of the way a step, but never a coarse one.
    measured = [
        escape_time(*pair, rate=min(0.01, time / 500))
        for pair, time in zip(pairs, expected, strict=True)
    ]
    return {
        "measured": np.reshape(measured, shape),
        "expected": np.reshape(expected, shape),
    }


def _sgd(config: Landscapes) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([config.seed, 2])
    options = config.sgd_steps, config.sgd_runs, config.sgd_variance
    measured, bounds = best_gradients(*options, rng)
    return {"measured": measured, "bounds": bounds}


def _check(config: Landscapes) -> None:
    counts = (
        "num_starts",
        "num_draws",
        "teacher_units",
        "student_starts",
        "student_steps",
        "width",
        "network_starts",
        "sgd_runs",
    )
    for name in counts:
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(config, name)}.")
    if min(*config.units, *config.sgd_steps, 1) < 1 or not config.sgd_variance > 0:
        raise ValueError(
            "units and sgd_steps must hold numbers from 1 on, and sgd_variance must be "
            f"above 0, got {config.units}, {config.sgd_steps} and "
            f"{config.sgd_variance}."
        )
    if min(config.student_widths, default=0) < config.teacher_units:
        raise ValueError(
            "student_widths must not be empty nor below teacher_units = "
            f"{config.teacher_units}, where 0 is no minimum, got "
            f"{config.student_widths}."
        )
    if config.network_steps < 100 or config.network_steps % 100:
        raise ValueError(
            f"network_steps must be a multiple of 100, got {config.network_steps}."
        )
    if min(config.depths, default=0) < 2 or min(config.chain_depths, default=0) < 2:
        raise ValueError(
            "depths and chain_depths must hold numbers from 2 on, got "
            f"{config.depths} and {config.chain_depths}."
        )
    if not all(0 < start < 0.5 ** (1 / 2) for start in config.chain_starts):
        raise ValueError(
            "chain_starts must lie between 0 and 0.7, before the saddle is left, got "
            f"{config.chain_starts}."
        )
