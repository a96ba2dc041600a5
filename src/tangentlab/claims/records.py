"""What a verification returns: runs performed, and a verdict on every claim."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ..analysis import Claim
from ..report.claims import MARKS
from ..report.page import Report
from .entries import Entry
from .origins import Origin
from .scales import Run, Scale

Standing = Literal["confirmed", "refuted", "inconclusive", "recorded", "not measured"]
"""A verdict, or why there is none."""


@dataclass(frozen=True)
class Performed:
    """A planned run after it was performed, reused, left out or given up.

    Attributes:
        run: As planned.
        name: Network and data, and what else tells it from the others.
        command: Performs it alone.
        seeds: Its initialization seeds.
        path: Its folder; None if it is not finished.
        seconds: What it took, in the process that finished it.
        reused: It was there already, finished.
        report: What was drawn of it; None if nothing was.
        failure: Why it failed; empty if it did not.
        traceback: Of that failure.
        left_out: Why it was not begun; empty if it was.
        origin: Where and when it was performed; None if it is not finished.
    """

    run: Run
    name: str
    command: str
    seeds: tuple[int, ...]
    path: Path | None
    seconds: float
    reused: bool = False
    report: Report | None = None
    failure: str = ""
    traceback: str = ""
    left_out: str = ""
    origin: Origin | None = None

    @property
    def title(self) -> str:
        """Experiment and name."""
        experiment = self.run.experiment
        return experiment if self.name == experiment else f"{experiment}, {self.name}"

    @property
    def has_too_few_seeds(self) -> bool:
        """It has fewer initializations than a verdict takes."""
        return len(self.seeds) < self.run.least_seeds

    def claim(self, name: str) -> Claim | None:
        """What this run says of a claim it was planned for.

        Args:
            name: The claim's id.

        Returns:
            The claim; None if nothing was drawn of the run, it was not planned for it,
            or is silent on it.
        """
        if self.report is None or name not in self.run.claims:
            return None
        return next((each for each in self.report.claims if each.id == name), None)


class Verified(NamedTuple):
    """Where one claim of the catalog stands.

    Attributes:
        entry: The claim as published.
        standing: The verdict, or why there is none.
        claim: All that was measured of it; None if nothing was.
        reason: Why it was not measured, in a sentence; empty if it was.
        runs: The runs behind it.
        doubt: Why it is inconclusive although its numbers are not, or those of its runs
            are not, one by one; empty if it is not.
        leaning: What its numbers say, where too little was measured for a verdict: not
            all networks, or with too few initializations.
        expected: Nothing was measured of it, and should have been.
    """

    entry: Entry
    standing: Standing
    claim: Claim | None
    reason: str
    runs: tuple[Performed, ...]
    doubt: str = ""
    leaning: Literal["confirmed", "refuted"] | None = None
    expected: bool = False

    @property
    def mark(self) -> str:
        """The sign of the verdict; in brackets where too little was measured for it."""
        return f"({MARKS[self.leaning]})" if self.leaning else MARKS[self.standing]

    @property
    def criterion(self) -> str:
        """The one that was applied; of what was not measured, the catalog's."""
        return self.entry.criterion if self.claim is None else self.claim.criterion

    @property
    def seconds(self) -> float:
        """What the runs behind it took; they may stand behind other claims too."""
        return sum((each.seconds for each in self.runs), start=0.0)

    @property
    def seeds(self) -> int:
        """The most initializations that one of its runs has."""
        return max((len(each.seeds) for each in self.runs), default=0)


@dataclass(frozen=True)
class Verification:
    """A verdict on every claim, at one scale.

    Attributes:
        scale: The scale.
        folder: Where runs, tables and page are.
        started: When, as text.
        seconds: What all of it took, this time.
        wanted: The claims that were asked for.
        named: Those of them that were asked for by name.
        only: The experiments, networks or data sets whose runs were asked for; empty
            for all.
        seeds: The least number of initializations that was asked for; None for those
            planned.
        kept: The folder of numbers that were judged; None where runs were performed.
        verdicts: One for each claim of the catalog, in its order.
        runs: The runs performed, in order.
    """

    scale: Scale
    folder: Path
    started: str
    seconds: float
    wanted: tuple[str, ...]
    named: tuple[str, ...]
    only: tuple[str, ...]
    seeds: int | None
    kept: Path | None
    verdicts: tuple[Verified, ...]
    runs: tuple[Performed, ...]

    @property
    def command(self) -> str:
        """The command that gives this again."""
        return self.command_for(*self.named)

    def command_for(self, *claims: str) -> str:
        """The command that gives some claims again, with the options of this.

        Args:
            claims: Their ids; all where there are none.

        Returns:
            A command line.
        """
        words = ["tangentlab", "verify", "--scale", self.scale]
        words += ["--output", str(self.folder)]
        words += ["--claim", *claims] if claims else []
        words += ["--seeds", str(self.seeds)] if self.seeds else []
        words += ["--kept", str(self.kept)] if self.kept else []
        return shlex.join(words + (["--only", *self.only] if self.only else []))

    @property
    def missed(self) -> tuple[Verified, ...]:
        """Claims that were planned, and were not measured."""
        return tuple(
            each
            for each in self.verdicts
            if each.standing == "not measured" and (each.runs or each.expected)
        )

    @property
    def lacking(self) -> tuple[Verified, ...]:
        """Claims that were planned, or named, and were not measured."""
        return tuple(
            each
            for each in self.verdicts
            if each.standing == "not measured"
            and (each.runs or each.expected or each.entry.id in self.named)
        )

    @property
    def shown(self) -> tuple[Verified, ...]:
        """Claims that were asked for."""
        return tuple(each for each in self.verdicts if each.entry.id in self.wanted)

    def count(self, standing: Standing) -> int:
        """How many claims stand so.

        Args:
            standing: A verdict.

        Returns:
            Their number.
        """
        return sum(each.standing == standing for each in self.verdicts)
