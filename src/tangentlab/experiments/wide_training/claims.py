"""What networks of growing width say about D33 and D34."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Estimate, Finding, Threshold
from ...store import Run
from ..stages.judging import with_verdict
from ..stages.scaling import slope

_SMOOTH, _RELU = -0.8, (-1.0, -0.6)
_LEAST_SEEDS, _LEAST_WIDTHS = 5, 3


@dataclass(frozen=True)
class Widths:
    """What was measured with one activation, a row per seed, a column per width.

    Attributes:
        activation: Its name.
        widths: The widths.
        kernel_change: Relative Frobenius change of the kernel over training.
        own_gap: Distance to the own linearization at test samples, over the targets.
        infinite_gap: Likewise to regression with the kernel of infinite width.
        on_the_way: Kernel change at each look as well, (seeds, widths, looks).
        loss: Training loss at the end.
    """

    activation: str
    widths: Float[np.ndarray, " w"]
    kernel_change: Float[np.ndarray, "s w"]
    own_gap: Float[np.ndarray, "s w"]
    infinite_gap: Float[np.ndarray, "s w"]
    on_the_way: Float[np.ndarray, "s w l"]
    loss: Float[np.ndarray, "s w"]


def read_results(run: Run) -> tuple[Widths, ...]:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        What was measured with each activation.
    """
    return tuple(_read(run, activation) for activation in run.config.activations)


def claims(results: tuple[Widths, ...]) -> tuple[Claim, ...]:
    """Judge D33 and D34.

    Args:
        results: Of each activation.

    Returns:
        The claims with their verdicts.
    """
    return (_constant(results), _close(results))


def change_slope(each: Widths) -> Estimate:
    """Exponent of the width in the change of the kernel.

    Args:
        each: What was measured with one activation.

    Returns:
        The exponent with its interval over seeds.
    """
    return slope(each.widths, each.kernel_change)


def _constant(results: tuple[Widths, ...]) -> Claim:
    findings: list[Finding] = []
    for each in results:
        found = change_slope(each)
        if each.activation == "relu":
            low, high = _RELU
            findings += [
                Finding("relu, slope", found, threshold=Threshold(high, above=False)),
                Finding("relu, above −1", found, threshold=Threshold(low, above=True)),
            ]
        else:
            limit = Threshold(_SMOOTH, above=False)
            findings.append(
                Finding(f"{each.activation}, slope", found, threshold=limit)
            )
    claim = Claim(
        "D33",
        "The kernel changes less in training the wider the network",
        "slope of log change against log width below −0.8 for smooth activations, "
        "between −1 and −0.6 for ReLU, with all of its interval",
        tuple(findings),
        "inconclusive",
        _at_the_end(results),
        limit="slope below −0.8, ReLU in [−1, −0.6]",
    )
    return with_verdict(claim, _doubt(results))


def _at_the_end(results: tuple[Widths, ...]) -> str:
    """Slopes between the two widest networks: narrow ones may still learn features."""
    told = []
    for each in results:
        widths, at = np.unique(each.widths, return_index=True)
        found = slope(widths[-2:], each.kernel_change[:, at[-2:]])
        if len(widths) >= _LEAST_WIDTHS and np.isfinite(found.value):
            numbers = f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
            told.append(f"{each.activation} {numbers.replace('-', '−')}")
    if not told:
        return ""
    return f"slope between the two largest widths alone: {', '.join(told)}"


def _close(results: tuple[Widths, ...]) -> Claim:
    limit = Threshold(0.0, above=False)
    findings = [
        Finding(f"{each.activation}, {name}", slope(each.widths, gap), threshold=limit)
        for each in results
        for name, gap in (
            ("own linearization", each.own_gap),
            ("infinite kernel", each.infinite_gap),
        )
    ]
    claim = Claim(
        "D34",
        "A wide trained network is close to regression with its tangent kernel",
        "slope of log error against log width below 0, with all of its interval, "
        "against the own linearization and against the infinite kernel",
        tuple(findings),
        "inconclusive",
        limit="slope below 0",
    )
    return with_verdict(claim, _doubt(results))


def _doubt(results: tuple[Widths, ...]) -> str:
    seeds = min((len(each.kernel_change) for each in results), default=0)
    widths = min((len(each.widths) for each in results), default=0)
    if seeds < _LEAST_SEEDS:
        return f"{seeds} seeds, at least {_LEAST_SEEDS} are needed"
    if widths < _LEAST_WIDTHS:
        return f"{widths} widths, at least {_LEAST_WIDTHS} are needed"
    return ""


def _read(run: Run, activation: str) -> Widths:
    saved = [run.arrays(f"{activation}-{width}") for width in run.config.widths]

    def last(name: str) -> np.ndarray:
        return np.stack([each[name][:, -1] for each in saved], axis=1)

    return Widths(
        activation=activation,
        widths=np.array(run.config.widths, float),
        kernel_change=last("kernel_change"),
        own_gap=last("own_gap"),
        infinite_gap=last("infinite_gap"),
        on_the_way=np.stack([each["kernel_change"] for each in saved], axis=1),
        loss=last("loss"),
    )
