"""The figures of the eigenfunctions experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import Claim, accuracy_interval, mean_interval
from ...report import claim_figures, figures, spectrum_figures
from ...report.gallery import Gallery, gallery
from ...report.style import style
from ...spectra import PowerLaw
from ...store import Run
from ..stages import naming
from .results import Ended, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 8.4


def accuracies(results: Results) -> figures.Accuracies:
    """What the main figure shows: means over seeds, with intervals.

    Args:
        results: Of a run.

    Returns:
        Wilson's intervals of the test split for one seed, Student's over several.
    """
    network, linearized = (_mean(ended.accuracy) for ended in results.pair)
    reference = None
    if results.reference is not None:
        first, second = (float(each.accuracy.mean()) for each in results.reference)
        reference = first, second
    return figures.Accuracies(
        index=results.index,
        network=network,
        linearized=linearized,
        network_interval=_interval(results, results.network),
        linearized_interval=_interval(results, results.linearized),
        chance=results.chance.mean(axis=0),
        degenerate=np.any(results.degenerate, axis=0),
        diverged=np.any([ended.diverged for ended in results.pair], axis=(0, 1)),
        reference=reference,
        reference_name="CIFAR2" if results.data == "cifar10" else "halved classes",
    )


def subject(results: Results) -> str:
    """Network and data as one writes them.

    Args:
        results: Of a run.

    Returns:
        Such as `LeNet on CIFAR-10`.
    """
    return naming.subject(results.model, results.data)


def accuracy_figure(results: Results, claims: tuple[Claim, ...]) -> "Figure":
    """Accuracy against index, class balance, and what follows.

    Args:
        results: Of a run.
        claims: With their verdicts.

    Returns:
        The figure.
    """
    with style():
        figure = _figure(_WIDTH, 6.0 + 0.62 * len(claims))
        heights = (4.2, 1.0, 0.62 * len(claims))
        top, middle, bottom = figure.subplots(3, 1, height_ratios=heights)
        figures.accuracy_against_index(top, accuracies(results))
        figures.class_balance(
            middle, results.index, results.balance, results.degenerate
        )
        middle.set_xlim(top.get_xlim())
        top.set_xlabel("")
        top.tick_params(labelbottom=False)
        title = f"{subject(results)}: eigenfunctions of its NTK"
        rows = 1 if len(top.get_legend_handles_labels()[0]) <= 4 else 2
        top.set_title(title, pad=16 + 18 * rows)
        claim_figures.verdict_strip(bottom, claims)
        return figure


def spectrum_figure(run: Run, results: Results) -> "Figure":
    """Eigenvalues of the first seed, with a power law and the tasks.

    Args:
        run: The run.
        results: Its results.

    Returns:
        The figure.
    """
    arrays = run.arrays(f"spectrum-{results.seeds[0]}")
    exponent, error, prefactor, start, stop = arrays["power_law"]
    law = None
    if np.isfinite(exponent):
        numbers = (float(exponent), float(error), float(prefactor))
        law = PowerLaw(*numbers, int(start), int(stop))
    shown = spectrum_figures.SavedEigenvalues(
        arrays["eigenvalues"], float(arrays["resolution"])
    )
    with style():
        figure = _figure(_WIDTH, 4.4)
        ax = figure.subplots()
        spectrum_figures.eigenvalue_decay(ax, shown, law)
        spectrum_figures.mark_modes(ax, shown, results.index.tolist(), "tasks")
        return figure


def energy_figure(run: Run, results: Results) -> "Figure":
    """How the energy of labels is spread over the modes they come from.

    Args:
        run: The run.
        results: Its results.

    Returns:
        The figure.
    """
    energy = run.arrays(f"tasks-{results.seeds[0]}")["energy"]
    shown = _some(np.arange(len(results.index)), 5)
    drawn = [
        spectrum_figures.Target(
            f"sign of φ$_{{{results.index[at] + 1}}}$", np.cumsum(energy[:, at])
        )
        for at in shown
    ]
    with style():
        figure = _figure(_WIDTH, 4.0)
        num = results.num_train + results.num_test
        spectrum_figures.cumulative_energy(figure.subplots(), drawn, num)
        return figure


def growth_figure(results: Results) -> "Figure":
    """Steps to a small loss, and distances, against index.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    use = results.usable.all(axis=0)
    names = {
        "iterations": "steps to a loss of 0.01",
        "distance": "distance ‖θ − θ₀‖",
        "cosine": "cosine distance",
    }
    with style():
        figure = _figure(_WIDTH, 3.4)
        axes = figure.subplots(1, 3)
        for ax, (field, name) in zip(axes, names.items(), strict=True):
            pair = [_mean(getattr(ended, field))[use] for ended in results.pair]
            growth = figures.Growth(name, *pair)
            figures.growth_against_index(ax, results.index[use], growth)
        handles, labels = axes[1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return figure


def training_figure(run: Run, results: Results) -> "Figure":
    """Training loss of some tasks, of the first seed.

    Args:
        run: The run.
        results: Its results.

    Returns:
        The figure.
    """
    usable = np.flatnonzero(results.usable[0])
    shown = _some(usable if len(usable) else np.arange(len(results.index)), 4)
    losses = [
        run.arrays(f"{name}-{results.seeds[0]}")["train_loss"][shown]
        for name in ("network", "linearized")
    ]
    with style():
        rows = -(-len(shown) // 2)
        figure = _figure(_WIDTH, 2.9 * rows + 0.4)
        axes = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
        figures.learning_curves(axes, results.index[shown], *losses)
        return figure


def gallery_figure(run: Run) -> "Figure":
    """Extreme images of some eigenfunctions.

    Args:
        run: The run.

    Returns:
        The figure.
    """
    images = Gallery(**run.arrays("gallery"))
    with style():
        figure = _figure(_WIDTH, 0.85 * len(images.index) + 0.5)
        gallery(figure, images)
        return figure


def _interval(results: Results, ended: Ended) -> np.ndarray:
    if len(results.seeds) == 1:
        return accuracy_interval(ended.accuracy[0], results.num_test)
    return np.clip(mean_interval(ended.accuracy), 0, 1)


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=0, dtype=np.float64)


def _some(candidates: np.ndarray, num: int) -> np.ndarray:
    places = np.linspace(0, len(candidates) - 1, min(num, len(candidates)))
    return candidates[places.round().astype(int)]


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
