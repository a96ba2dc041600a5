"""Figures and report of the flow experiment, from its run folder alone."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.scaling_figures import COLORS
from ...report.style import INK, MUTED, style
from ...report.tables import Column, Row, Table
from ...store import Run
from ...theory import flow_loss_bound
from .claims import Results, claims, read_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 3  # samples whose outputs are drawn


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    return Report(
        title="Where does gradient descent end, and how does it get there?",
        summary=_summary(run, results),
        sections=_sections(run),
        console_table=_table(results),
        highlights=(
            Highlight(f"{results.flow.max():.0e}", "largest error of exp(−tK/n)"),
            Highlight(f"{results.summed.mean():.2f}", "error of exp(−tK)"),
            Highlight(f"{results.norm.max():.0e}", "error of the squared norm"),
        ),
        claims=claims(results),
        claims_caption="Numbers are the largest over initializations; they are exact "
        "but for that of exp(−tK), a mean over initializations.",
    )


def _summary(run: Run, results: Results) -> str:
    return (
        f"A linearized network of {run.config.width} units was trained in weight space "
        f"on {run.config.num_train} samples, by steps and by an ODE. The kernel's "
        f"closed forms agree to {results.flow.max():.0e} on the way and to "
        f"{results.prediction.max():.0e} at the end. The exponent without 1/n is off "
        f"by {100 * results.summed.mean():.0f} % of the initial residual."
    )


def _sections(run: Run) -> tuple[Section, ...]:
    return (
        Section(
            "Gradient flow and both exponents",
            "Outputs at some training samples on the way to their targets, at the "
            "right: solved in weight space (dots), with the exponent of the mean loss "
            "(lines), and with that of a summed one (dashes), which is early by the "
            "number of samples. Below, how far each is from the solution.",
            {"flow": _flow_figure(run)},
        ),
        Section(
            "The ridge goes to 0",
            "How far ridge regression is from where gradient descent ended, at test "
            "samples. It falls in proportion to the ridge, down to rounding.",
            {"ridge": _ridge_figure(run)},
        ),
        Section(
            "The smallest eigenvalue bounds the loss",
            "A narrow network's own training loss along its gradient flow, and the "
            "bound by the smallest eigenvalue that its kernel had so far. The loss is "
            "always below: other modes are faster. Thin lines are other "
            "initializations.",
            {"loss": _loss_figure(run)},
        ),
    )


def _flow_figure(run: Run) -> "Figure":
    arrays = run.arrays("closed-0")
    times = arrays["times"]
    with style():
        figure = _figure(8.4, 6.4)
        top, bottom = figure.subplots(2, 1, height_ratios=(3, 1.7), sharex=True)
        for sample in range(min(_SHOWN, run.config.num_train)):
            color = COLORS[sample]
            solved, closed, summed = (
                arrays[name][:, sample] for name in ("solved", "closed", "summed")
            )
            top.plot(times, closed, color=color)
            top.plot(times, summed, color=color, linestyle=(0, (4, 2)), linewidth=1.4)
            top.plot(times, solved, "o", color=color, markerfacecolor="white")
        legend = {
            "solved in weight space": {"marker": "o", "linestyle": "none"},
            "exp(−tK/n)": {"linestyle": "-"},
            "exp(−tK)": {"linestyle": (0, (4, 2)), "linewidth": 1.4},
        }
        for name, look in legend.items():
            top.plot([], [], color=MUTED, markerfacecolor="white", label=name, **look)
        top.set_ylabel("outputs at three samples")
        top.set_title("The mean loss needs 1/n in the exponent")
        handles = top.get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=3)
        errors = {"exp(−tK)": "summed_gap", "exp(−tK/n)": "flow_error"}
        for (name, key), color in zip(errors.items(), (INK, COLORS[2]), strict=True):
            bottom.semilogy(times, arrays[key], "o-", color=color, markersize=4)
            bottom.annotate(
                name,
                (times[len(times) // 2], arrays[key].max()),
                xytext=(0, -18 if key == "summed_gap" else 8),
                textcoords="offset points",
                ha="center",
                color=color,
                fontsize=9.5,
            )
        bottom.set_xscale("log")
        bottom.set_xlabel("time: learning rate x steps")
        bottom.set_ylabel("error over\ninitial residual")
        return figure


def _ridge_figure(run: Run) -> "Figure":
    with style():
        figure = _figure(7.2, 4.4)
        ax = figure.subplots()
        saved = [run.arrays(f"closed-{number}") for number in range(run.config.seeds)]
        ridges = saved[0]["ridges"]
        for each in saved:
            ax.loglog(ridges, each["ridge_error"], "o-", color=COLORS[0], alpha=0.5)
        guide = 0.2 * saved[0]["ridge_error"][-2] / ridges[-2] * ridges
        ax.loglog(
            ridges,
            guide,
            color=MUTED,
            linestyle=(0, (5, 2)),
            label="proportional to the ridge",
        )
        ax.invert_xaxis()
        ax.set_xlabel("ridge over the largest eigenvalue")
        ax.set_ylabel("distance from descent's end")
        ax.set_title("Ridge regression tends to the end of descent")
        ax.legend()
        return figure


def _loss_figure(run: Run) -> "Figure":
    with style():
        figure = _figure(8.4, 4.6)
        ax = figure.subplots()
        n = run.config.num_train
        for number in range(run.config.seeds):
            arrays = run.arrays(f"network-{number}")
            times, loss = arrays["times"], arrays["loss"]
            least = np.minimum.accumulate(arrays["smallest"])
            bound = [
                flow_loss_bound(float(loss[0]), max(float(lam), 0.0), float(t), n)
                for lam, t in zip(least, times, strict=True)
            ]
            first = number == 0
            look: dict[str, Any] = {
                "linewidth": 2.2 if first else 0.9,
                "alpha": 1.0 if first else 0.45,
            }
            names = ("loss of the network", "bound") if first else (None, None)
            ax.plot(times, loss, color=COLORS[1], label=names[0], **look)
            ax.plot(
                times,
                bound,
                color=INK,
                linestyle=(0, (5, 2)),
                label=names[1],
                **look,
            )
        ax.set_yscale("log")
        ax.set_xlabel("time: learning rate x steps")
        ax.set_ylabel("training loss")
        ax.set_title(f"Width {run.config.narrow_width}: loss along the flow")
        ax.legend()
        return figure


def _table(results: Results) -> Table:
    names = {
        "interpolation": results.interpolation,
        "weights of least norm": results.weights,
        "predictions": results.prediction,
        "squared norm": results.norm,
        "flow with exp(−tK/n)": results.flow,
        "flow with exp(−tK)": results.summed,
        "smallest ridge": results.ridge,
        "Gaussian process": results.gaussian,
        "predictions without f₀": results.bare,
    }
    rows = tuple(
        Row((name, float(np.median(errors)), float(errors.max())))
        for name, errors in names.items()
    )
    return Table(
        (
            Column("closed form", align="left"),
            Column("median", ".1e"),
            Column("largest", ".1e"),
        ),
        rows,
        "Relative differences between closed forms and training in weight space, over "
        "initializations.",
    )


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
