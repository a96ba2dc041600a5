r"""Bounds on the test error against the test error.

Kernel regression with the tangent kernel of an infinitely wide network interpolates
labels, true ones and ones of which a share is random. Each draw of training samples
gives what its labels cost in the norm of the kernel, the bound that follows, and the
error on samples that were left out, whose labels are as random.

Reference:
    The CentraleSupelec lecture (class 5, January 2025); Arora et al., "Fine-grained
    analysis of optimization and generalization for overparameterized two-layer neural
    networks", ICML 2019; Zhang et al., "Understanding deep learning requires rethinking
    generalization", ICLR 2017.
"""

import dataclasses
from pathlib import Path

import jax
import numpy as np
import scipy.linalg
from jaxtyping import Float

from ... import infinite, theory
from ..._progress import Advance, progress_bar
from ...store import RunFolder
from .cases import Case, load_case

_RADEMACHER_DRAWS = 2000


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Compare bounds on the test error of a wide network with the error itself."""

    cases: tuple[str, ...] = ("clusters", "digits")
    """What to classify: clusters (synthetic), a data set, whose first half of classes
    is told from the other half, or two of its classes, as in mnist:0,1."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    sizes: tuple[int, ...] = (150, 300, 600, 1200)
    """Numbers of training samples."""
    corruptions: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """Shares of labels that are replaced by a fair coin, at the largest size."""
    num_test: int = 200
    """Samples left out of training in each draw."""
    draws: int = 5
    """Draws of training samples. Five are needed for intervals."""
    permutations: int = 200
    """Shuffled label vectors that the true labels are compared with."""
    depth: int = 3
    """Hidden layers of the infinitely wide ReLU network."""
    failure: float = 0.05
    """Probability with which the bound may fail."""
    jitter: float = 1e-6
    """Added to the kernel, in units of its mean diagonal, where true labels are
    compared with shuffled ones; ten times as much is tried too."""
    seed: int = 0
    """Decides all draws."""


def run(config: Bounds, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; cases that are there are not computed again.
        progress: Show a progress bar.

    Raises:
        ValueError: For sizes, shares or counts that make no sense.
    """
    _check(config)
    units = len(config.cases) * config.draws
    with progress_bar("Bounds", units, show=progress, unit="draws") as advance:
        for number, name in enumerate(config.cases):
            if folder.has_arrays(f"case-{number}"):
                advance(config.draws)
                continue
            arrays = _measure(config, name, advance)
            folder.save_arrays(f"case-{number}", **arrays)
    for number, name in enumerate(config.cases):
        saved = folder.arrays(f"case-{number}")
        means = {key: values.mean(axis=0) for key, values in saved.items()}
        folder.log(case=name, sizes=config.sizes, **means)


def _measure(config: Bounds, name: str, advance: Advance) -> dict[str, np.ndarray]:
    """All numbers of a case, draws first."""
    total = max(config.sizes) + config.num_test
    case = load_case(
        name, config.directory, total, jax.random.key(config.seed), config.seed
    )
    if len(case.y) < total:
        raise ValueError(
            f"{name} has {len(case.y)} samples, but sizes up to {max(config.sizes)} "
            f"with num_test = {config.num_test} need {total}: lower one of them."
        )
    network = infinite.fc(config.depth)
    K = np.asarray(network.ntk(case.x, precision="float64"), np.float64)
    K = K / np.mean(np.diagonal(K))
    found = []
    for draw in range(config.draws):
        found.append(_draw(config, case, K, np.random.default_rng([config.seed, draw])))
        advance(1)
    return {key: np.stack([each[key] for each in found]) for key in found[0]}


def _draw(
    config: Bounds,
    case: Case,
    K: Float[np.ndarray, "n n"],
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    order = rng.permutation(len(case.y))
    test, rest = order[: config.num_test], order[config.num_test :]
    true = case.y[:, None]
    by_size = [_evaluate(config, K, true, rest[:n], test)[0] for n in config.sizes]
    coins, chosen = rng.choice([-1.0, 1.0], len(order)), rng.random(len(order))
    shares = np.array(config.corruptions)
    corrupted = np.where(chosen[:, None] < shares, coins[:, None], true)
    largest = rest[: max(config.sizes)]
    by_share = _evaluate(config, K, corrupted, largest, test)
    H, key = K[np.ix_(largest, largest)], jax.random.key(int(rng.integers(2**31)))
    return {
        "by_size": np.array(by_size),
        "by_share": np.array(by_share),
        **_permuted(config, H, case.y[largest], key),
        "rademacher": np.array(_rademacher(H, key)),
    }


def _evaluate(
    config: Bounds,
    K: Float[np.ndarray, "n n"],
    Y: Float[np.ndarray, "n t"],
    train: np.ndarray,
    test: np.ndarray,
) -> list[tuple[float, float, float]]:
    """Bound, its leading term, and the error on samples left out, for each column."""
    H = K[np.ix_(train, train)]
    bounds = [theory.generalization_bound(H, y, config.failure) for y in Y[train].T]
    solved = scipy.linalg.solve(H, Y[train], assume_a="pos")
    outputs = K[np.ix_(test, train)] @ solved
    errors = np.mean(np.sign(outputs) != Y[test], axis=0)
    return [
        (bound.value, bound.class_term, float(error))
        for bound, error in zip(bounds, errors, strict=True)
    ]


def _permuted(
    config: Bounds, H: Float[np.ndarray, "n n"], y: Float[np.ndarray, " n"], key
) -> dict[str, np.ndarray]:
    """Costs of true and of shuffled labels, with two jitters."""
    jitters = [config.jitter, 10 * config.jitter]
    true = [theory.label_complexity(H, y, jitter=each) for each in jitters]
    shuffled = [
        theory.permuted_complexities(
            H, y, key=key, num=config.permutations, jitter=each
        )
        for each in jitters
    ]
    return {"true_labels": np.array(true), "shuffled_labels": np.stack(shuffled)}


def _rademacher(H: Float[np.ndarray, "n n"], key) -> tuple[float, float]:
    """Complexity of the unit ball by Monte Carlo, and its bound."""
    found = theory.rademacher_complexity(H, 1.0, key=key, num_draws=_RADEMACHER_DRAWS)
    return found.value, theory.rademacher_bound(H, 1.0)


def _check(config: Bounds) -> None:
    for name in ("draws", "permutations", "num_test", "depth"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(config, name)}.")
    if not config.cases or not config.sizes or min(config.sizes) < 2:
        raise ValueError(
            "cases and sizes must not be empty, and sizes at least 2, got "
            f"{config.cases} and {config.sizes}."
        )
    wrong = [share for share in config.corruptions if not 0 <= share <= 1]
    if wrong or not config.corruptions:
        raise ValueError(
            f"corruptions must be shares in 0..1, at least one, got "
            f"{config.corruptions}."
        )
