"""One verdict from several runs: the models and data sets of one claim.

A claim speaks of several networks, and each run measures one. Their numbers are judged
together, by Holm's procedure over all of them, so that ten models are not ten chances:
over all intervals, and over all p-values. What they chose to read in different ways is
not one claim. Runs with too few initializations for a verdict are shown and not judged.
"""

from collections.abc import Sequence
from itertools import chain, compress

from ..analysis import Claim, Finding, Verdict, all_of, judge_together


def join(
    claims: Sequence[Claim], names: Sequence[str], counted: Sequence[bool] | None = None
) -> Claim:
    """Join the claims that several runs made of one statement.

    Findings that carry a verdict and a threshold are judged anew, together. Where the
    verdict of a run is not simply that of its findings (it chose a reading, or was too
    small to tell), it stands as it is.

    Args:
        claims: One for each run, of one id.
        names: What each run was about, such as `LeNet on CIFAR-10`.
        counted: Which runs are judged; all by default. The others are told beside them.

    Returns:
        One claim: it holds if it holds in all runs, and does not if it fails in one.
        It is inconclusive where runs chose different readings.

    Raises:
        ValueError: If there are no claims, they are of different ids, or none counts.
    """
    ids = {claim.id for claim in claims}
    if len(ids) != 1:
        raise ValueError(
            f"Only claims of one id can be joined, got {sorted(ids) or 'none'}."
        )
    if len(claims) == 1:
        return claims[0]
    counted = [True] * len(claims) if counted is None else counted
    if not any(counted):
        raise ValueError("None of the claims counts: there is nothing to judge.")
    judged = list(compress(claims, counted))
    anew = _judge_together(judged)
    verdicts = _of_runs(judged, anew)
    left = iter(anew)
    together = [
        next(left) if counts else _only_told(claim.findings)
        for claim, counts in zip(claims, counted, strict=True)
    ]
    lost = lost_together(judged, list(compress(names, counted)))
    remarks = [lost, _remarks(claims, names)]
    findings = [
        finding._replace(name=f"{name}, {finding.name}" if finding.name else name)
        for name, found in zip(names, together, strict=True)
        for finding in found
    ]
    return claims[0]._replace(
        criterion=_merged([claim.criterion for claim in claims], names),
        findings=tuple(findings),
        verdict=all_of(verdicts),
        remark="; ".join(filter(None, remarks)),
        limit=_merged([claim.limit for claim in claims], names),
        alone=None,
    )


def lost_together(claims: Sequence[Claim], names: Sequence[str]) -> str:
    """What runs say alone, and do not say judged together.

    Args:
        claims: One for each run, of one id.
        names: What each run was about.

    Returns:
        A remark that names these runs, and different readings; empty if there are none.
    """
    if len(claims) == 1:
        return ""
    together = _judge_together(claims)
    pairs = list(zip(claims, _of_runs(claims, together), strict=True))
    parts = []
    for kind in ("confirmed", "refuted"):
        lost = [claim.verdict == kind != verdict for claim, verdict in pairs]
        if some := list(compress(names, lost)):
            each = "alone" if len(some) == 1 else "each alone"
            parts.append(f"{' and '.join(some)} {each} would have it {kind}")
    apart = _read_apart(claims, names)
    if not parts:
        return apart
    count = sum(map(_is_judged, chain.from_iterable(together)))
    why = apart or f"Holm's procedure over all {count} numbers together would not"
    return f"{' and '.join(parts)}, but {why}"


def _only_told(findings: Sequence[Finding]) -> list[Finding]:
    return [each._replace(verdict=None, threshold=None) for each in findings]


def _judge_together(claims: Sequence[Claim]) -> list[list[Finding]]:
    """The findings of each run; those that it judged are judged with all others."""
    own = filter(_is_judged, chain.from_iterable(each.findings for each in claims))
    anew = iter(judge_together([*own]))
    return [
        [next(anew) if _is_judged(each) else each for each in claim.findings]
        for claim in claims
    ]


def _is_judged(finding: Finding) -> bool:
    return finding.verdict is not None and finding.threshold is not None


def _of_runs(
    claims: Sequence[Claim], together: Sequence[Sequence[Finding]]
) -> list[Verdict]:
    if _read_in_one_way(claims):
        return [_of_run(*pair) for pair in zip(claims, together, strict=True)]
    return ["inconclusive"] * len(claims)


def _of_run(claim: Claim, together: Sequence[Finding]) -> Verdict:
    own = _verdicts(claim.findings)
    if not own or claim.verdict != all_of(own):
        return claim.verdict
    return all_of(_verdicts(together))


def _verdicts(findings: Sequence[Finding]) -> list[Verdict]:
    return [each.verdict for each in findings if each.verdict is not None]


def _read_in_one_way(claims: Sequence[Claim]) -> bool:
    return len(set(filter(None, map(_reading, claims)))) < 2


def _reading(claim: Claim) -> str:
    """The reading that a run chose; empty if there was nothing to choose."""
    return "; ".join(each.name for each in claim.findings if each.kind == "reading")


def _read_apart(claims: Sequence[Claim], names: Sequence[str]) -> str:
    """Who chose which reading; empty if all chose one."""
    if _read_in_one_way(claims):
        return ""
    pairs = zip(names, map(_reading, claims), strict=True)
    chosen = "; ".join(f"{name}: {reading}" for name, reading in pairs if reading)
    return f"runs chose different readings ({chosen})"


def _merged(texts: Sequence[str], names: Sequence[str]) -> str:
    """All texts, each once and by whom it is; one that has all others stands alone."""
    runs: dict[str, list[str]] = {}
    for text, name in zip(texts, names, strict=True):
        if not any(text in other for other in texts if other != text):
            runs.setdefault(text, []).append(name)
    if len(runs) == 1:
        return next(iter(runs))
    return "; ".join(f"{' and '.join(some)}: {text}" for text, some in runs.items())


def _remarks(claims: Sequence[Claim], names: Sequence[str]) -> str:
    """All remarks; one that all runs share is said once."""
    remarks = [claim.remark for claim in claims]
    if len(set(remarks)) == 1:
        return remarks[0]
    pairs = zip(names, remarks, strict=True)
    return "; ".join(f"{name}: {remark}" for name, remark in pairs if remark)
