"""What descents say about the lecture's claims: D40 and D41."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Finding, bootstrap, exactly, mean
from ...store import Run
from ..stages.findings import held_against
from ..stages.judging import with_verdict

_MOVED = 1e-12
_REACHED = 1e-6
_ZERO = 1e-10
FITTED = 1e-4
"""Loss, over that of the output 0, below which a student has found the minimum."""
CONVERGED = 1e-7
"""Norm of the gradient below which a descent has converged."""


@dataclass(frozen=True)
class Measured:
    """The numbers of a run.

    Attributes:
        starts: Of one ReLU unit.
        ends: Where descent got.
        depths: Of chains.
        eigenvalues: Smallest and largest of the Hessian at 0, by depth.
        losses: Final losses of deep linear networks, depths first.
        gradient_norms: Their final gradients.
        minimum: The global minimum, by depth.
    """

    starts: Float[np.ndarray, " s"]
    ends: Float[np.ndarray, " s"]
    depths: tuple[int, ...]
    eigenvalues: Float[np.ndarray, "d 2"]
    losses: Float[np.ndarray, "e r"]
    gradient_norms: Float[np.ndarray, "e r"]
    minimum: Float[np.ndarray, " e"]

    @property
    def converged(self) -> np.ndarray:
        """Which descents of networks ended at a critical point."""
        return self.gradient_norms < CONVERGED

    @property
    def excess(self) -> np.ndarray:
        """How far each ended above the global minimum, relative to it."""
        return self.losses / self.minimum[:, None] - 1


def read_measured(run: Run) -> Measured:
    """Read a run.

    Args:
        run: A finished run of the landscapes experiment.

    Returns:
        Its numbers.
    """
    unit, networks = run.arrays("unit"), run.arrays("networks")
    return Measured(
        unit["starts"],
        unit["ends"],
        tuple(run.config.chain_depths),
        run.arrays("saddle")["eigenvalues"],
        networks["losses"][:, :, -1],
        networks["gradient_norms"],
        networks["minimum"],
    )


def claims(measured: Measured) -> tuple[Claim, ...]:
    """Judge all claims.

    Args:
        measured: Of a run.

    Returns:
        D40 and D41.
    """
    return _bad_minimum(measured), _saddles(measured)


def _bad_minimum(measured: Measured) -> Claim:
    negative = measured.starts < 0
    moved = np.abs(measured.ends - measured.starts)[negative].max(initial=0.0)
    missed = np.abs(measured.ends - 1)[~negative].max(initial=0.0)
    stuck = bootstrap(mean, measured.ends < 0.5)
    findings = (
        held_against("largest move from w₀ < 0", exactly(moved), _MOVED, above=False),
        held_against(
            "farthest from 1 of w₀ > 0", exactly(missed), _REACHED, above=False
        ),
        Finding("share stuck", stuck),
    )
    both = negative.any() and not negative.all()
    claim = Claim(
        "D40",
        "One ReLU unit has a flat minimum that is not global, and descent stays in it",
        "from w₀ < 0 gradient descent moves by less than 1e-12; from w₀ > 0 it ends "
        "within 1e-6 of the global minimum",
        findings,
        "inconclusive",
        limit="no move from w₀ < 0",
    )
    return with_verdict(claim, "" if both else "all starts are of one sign")


def _saddles(measured: Measured) -> Claim:
    depths = np.array(measured.depths)
    two, deeper = (measured.eigenvalues[some] for some in (depths == 2, depths > 2))
    off = np.abs(two - np.array([[-1.0, 1.0]])).max(initial=0.0)
    curved = np.abs(deeper).max(initial=0.0)
    findings = [
        held_against("depth 2, distance from ±1", exactly(off), _ZERO, above=False),
        held_against("deeper, largest curvature", exactly(curved), _ZERO, above=False),
    ]
    done = measured.converged
    remark = f"{done.sum()} of {done.size} descents of networks converged"
    if done.any():
        excess = measured.excess[done].max()
        name = "largest excess of a converged descent"
        findings.append(held_against(name, exactly(excess), _REACHED, above=False))
    complete = len(two) and len(deeper) and done.any()
    claim = Claim(
        "D41",
        "Deep linear networks have a saddle at 0, without curvature from depth 3 on, "
        "and no bad minimum",
        "eigenvalues of the Hessian at 0 are ±1 for depth 2 and 0 for more, within "
        "1e-10; every converged descent ends within 1e-6 of the global minimum, "
        "relative to it",
        tuple(findings),
        "inconclusive",
        remark,
        "curvature 0 from depth 3 on",
    )
    return with_verdict(claim, "" if complete else "depths 2 and above are needed")
