"""The record that `tl.plan_gram` returns, and how it prints."""

import html
from dataclasses import dataclass

from ..._quantities import bytes_in_words, flops_in_words
from ..request import Precision

_WIDTH = 100  # columns of a printed table
_GAP = "  "
_SHORT = ("parameter", "shape", "form", "positions", "FLOPs", "per example", "pass")


@dataclass(frozen=True)
class PlannedParameter:
    """What is done with a parameter, or with a piece of one.

    Attributes:
        name: Path in the parameter tree.
        shape: Of the parameter.
        form: `"inputs and deltas"`, whose Gram matrices are multiplied; `"rows"`,
            gradients of single examples that are formed of them; `"whole"`, gradients
            formed through whatever the network makes of the parameter.
        groups: Independent products side by side.
        positions: Places of an example at which the parameter is used.
        fan_in: Features of the inputs.
        fan_out: Features of the outputs.
        flops: Operations: products, and forming what is multiplied.
        bytes_per_example: Bytes kept for each example, in all passes together.
        passes: Runs of the network that serve it, counted from 1.
        later: Whether rows are formed after the network has run, slice by slice.
    """

    name: str
    shape: tuple[int, ...]
    form: str
    groups: int | None = None
    positions: int | None = None
    fan_in: int | None = None
    fan_out: int | None = None
    flops: int = 0
    bytes_per_example: int = 0
    passes: tuple[int, ...] = ()
    later: bool = False


@dataclass(frozen=True, repr=False)
class GramPlan:
    """What `tl.gram` would do; prints as a table.

    Attributes:
        parameters: What is done with each that reaches an output, in the order of
            `params`.
        n: Samples along the rows.
        m: Samples along the columns.
        num_outputs: Outputs whose kernels are computed.
        precision: As asked for.
        device: `"cpu"` or `"gpu"`.
        num_passes: Runs of the network over the samples of each block.
        num_blocks: Blocks of the Gram matrix, each finished before the next.
        panel: Most rows and columns of a block.
        chunk: Samples that run through the network at once.
        tile: Rows and columns of one product.
        needed: Bytes at peak.
        memory: Bytes allowed.
    """

    parameters: tuple[PlannedParameter, ...]
    n: int
    m: int
    num_outputs: int
    precision: Precision
    device: str
    num_passes: int
    num_blocks: int
    panel: int
    chunk: int
    tile: int
    needed: int
    memory: int

    @property
    def flops(self) -> int:
        """Operations in all, beside those of running the network."""
        return sum(row.flops for row in self.parameters)

    @property
    def bytes_per_example(self) -> int:
        """Bytes kept for each example, in all passes together."""
        return sum(row.bytes_per_example for row in self.parameters)

    def __str__(self) -> str:
        lines = [_SHORT, *map(_cells, self.parameters), _total(self)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        others = sum(widths[1:]) + len(_GAP) * (len(widths) - 1)
        widths[0] = min(widths[0], _WIDTH - others)
        table = [_line(cells, widths) for cells in lines]
        return "\n".join([_title(self), "", *table, "", *_summary(self)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, ...], tag: str) -> str:
            inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inner}</tr>"

        body = "".join(row(_cells(one), "td") for one in self.parameters)
        foot = row(_total(self), "td")
        below = "<br>".join(map(html.escape, _summary(self)))
        return (
            f"<table><caption>{html.escape(_title(self))}</caption>"
            f"<thead>{row(_SHORT, 'th')}</thead><tbody>{body}</tbody>"
            f"<tfoot>{foot}</tfoot></table><p>{below}</p>"
        )


def _title(plan: GramPlan) -> str:
    outputs = _count(plan.num_outputs, "output")
    return (
        f"Gram matrix of {plan.n:,} x {plan.m:,} samples, {outputs}, "
        f"{plan.precision}, on {plan.device}"
    )


def _summary(plan: GramPlan) -> list[str]:
    runs = f"The network runs {_times(plan.num_passes)} over the samples"
    if plan.num_blocks > 1:
        runs += f" of each of {plan.num_blocks:,} blocks of {plan.panel:,}"
    needed, memory = bytes_in_words(plan.needed), bytes_in_words(plan.memory)
    return [
        f"{runs}, {plan.chunk:,} at once; products in tiles of {plan.tile:,}.",
        f"{needed} at peak, {memory} allowed.",
    ]


def _cells(row: PlannedParameter) -> tuple[str, ...]:
    return (
        row.name,
        "x".join(map(str, row.shape)) or "scalar",
        f"{row.form}, later" if row.later else row.form,
        "" if row.positions is None else f"{row.positions:,}",
        flops_in_words(row.flops),
        bytes_in_words(row.bytes_per_example),
        _ranges(row.passes),
    )


def _total(plan: GramPlan) -> tuple[str, ...]:
    flops, size = flops_in_words(plan.flops), bytes_in_words(plan.bytes_per_example)
    return ("total", "", "", "", flops, size, "")


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    """A line of a table: words to the left, numbers to the right."""
    name, shape, form, *numbers = cells
    left = zip((_shorten(name, widths[0]), shape, form), widths[:3], strict=True)
    right = zip(numbers, widths[3:], strict=True)
    words = [cell.ljust(width) for cell, width in left]
    return _GAP.join([*words, *(cell.rjust(width) for cell, width in right)]).rstrip()


def _shorten(name: str, width: int) -> str:
    """A name with its middle left out, where it is too long."""
    if len(name) <= width:
        return name
    head = (width - 2) // 3
    return f"{name[:head]}..{name[len(name) - (width - 2 - head) :]}"


def _ranges(passes: tuple[int, ...]) -> str:
    if not passes:
        return ""
    first, last = passes[0], passes[-1]
    return str(first) if first == last else f"{first}-{last}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
