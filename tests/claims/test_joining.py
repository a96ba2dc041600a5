import numpy as np
import pytest

from tangentlab.analysis import (
    Claim,
    Estimate,
    Finding,
    Threshold,
    all_of,
    exactly,
    judge,
)
from tangentlab.claims.joining import join, lost_together

ABOVE, BELOW = Threshold(0.0, True), Threshold(-0.8, False)
LEVEL = Threshold(-2.0, False)


def share_above(p: float, threshold: float = 0.0) -> Estimate:
    """An estimate whose one-sided p-value of lying above a threshold is `p`."""
    replicates = np.full(9_999, threshold + 1.0)
    replicates[: round(p * 10_000) - 1] = threshold - 1.0
    value = threshold + 0.5
    return Estimate(value, threshold - 0.1, threshold + 0.9, replicates)


def claim(
    *estimates: Estimate, threshold: Threshold = ABOVE, remark: str = ""
) -> Claim:
    """What a run of one model would say, judged alone."""
    judged = judge(estimates, threshold.value, above=threshold.above)
    findings = tuple(
        Finding("gap", estimate, verdict, threshold=threshold)
        for estimate, verdict in zip(estimates, judged, strict=True)
    )
    return Claim("D3", "It leads", "above 0", findings, all_of(judged), remark)


def by_p(p: float) -> Claim:
    """What a run says whose only number is a p-value, at a level of 0.01."""
    verdict = "confirmed" if p < 0.01 else "inconclusive"
    finding = Finding(
        "log₁₀ p", exactly(np.log10(p)), verdict, threshold=LEVEL, kind="log p"
    )
    return Claim("D14", "It depends", "p below 0.01", (finding,), verdict)


def read_as(reading: str, value: float = 1.0) -> Claim:
    """What a run says that chose a reading."""
    alone = claim(exactly(value))
    chosen = Finding(reading, exactly(0.5), kind="reading")
    return alone._replace(findings=(*alone.findings, chosen))


def test_one_run_stands_as_it_is():
    alone = claim(exactly(1.0), remark="fine")
    assert join([alone], ["MLP"]) is alone


def test_it_holds_if_it_holds_in_all_runs_and_names_them():
    joined = join([claim(exactly(1.0)), claim(exactly(2.0))], ["MLP", "LeNet"])
    assert joined.verdict == "confirmed"
    assert [each.name for each in joined.findings] == ["MLP, gap", "LeNet, gap"]
    assert [each.verdict for each in joined.findings] == ["confirmed"] * 2


def test_one_run_that_fails_refutes_and_one_open_leaves_open():
    good, bad, unclear = exactly(1.0), exactly(-1.0), share_above(0.4)
    assert join([claim(good), claim(bad)], ["a", "b"]).verdict == "refuted"
    assert join([claim(good), claim(unclear)], ["a", "b"]).verdict == "inconclusive"
    assert join([claim(bad), claim(unclear)], ["a", "b"]).verdict == "refuted"


def test_several_models_are_not_several_chances():
    weak = claim(share_above(0.02))
    assert weak.verdict == "confirmed"  # 0.02 is below 0.025 for one model
    strong = claim(exactly(1.0))
    assert join([weak, strong], ["a", "b"]).verdict == "confirmed"  # Holm: 0.02 last
    joined = join([weak, weak], ["a", "b"])  # Holm: 2 x 0.02
    assert joined.verdict == "inconclusive"
    assert [each.verdict for each in joined.findings] == ["inconclusive"] * 2


def test_it_says_so_when_runs_hold_alone_and_not_together():
    weak, strong = claim(share_above(0.02), remark="few"), claim(exactly(1.0))
    assert join([weak, weak], ["a", "b"]).remark == (
        "a and b each alone would have it confirmed, but Holm's procedure over all 2 "
        "numbers together would not; few"
    )
    unclear, fails = claim(share_above(0.4)), claim(share_above(0.98))
    assert fails.verdict == "refuted"
    joined = join([weak, unclear, fails], ["a", "b", "c"])
    assert joined.verdict == "inconclusive"
    assert joined.remark.startswith(
        "a alone would have it confirmed and c alone would have it refuted, but Holm's "
        "procedure over all 3 numbers together would not; "
    )
    assert join([weak, strong], ["a", "b"]).remark == "a: few"
    two = claim(share_above(0.02), share_above(0.02))
    assert lost_together([two._replace(verdict="confirmed")], ["a"]) == ""


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ((0.009, 0.008), ["inconclusive"] * 2),  # Holm: 2 x 0.008
        ((0.009, 0.004), ["confirmed"] * 2),
        ((0.02, 0.004), ["inconclusive", "confirmed"]),
        ((0.9, 0.009), ["inconclusive"] * 2),  # a large one refutes nothing
        ((0.003, 0.003, 0.003), ["confirmed"] * 3),
        ((0.004, 0.004, 0.004), ["inconclusive"] * 3),
    ],
)
def test_p_values_of_several_runs_are_adjusted(p, expected):
    names = ["a", "b", "c"][: len(p)]
    joined = join([by_p(each) for each in p], names)
    assert [each.verdict for each in joined.findings] == expected
    assert joined.verdict == all_of(expected)


def test_it_says_so_when_p_values_hold_alone_and_not_together():
    assert join([by_p(0.009), by_p(0.008)], ["a", "b"]).remark == (
        "a and b each alone would have it confirmed, but Holm's procedure over all 2 "
        "numbers together would not"
    )


def test_runs_that_chose_different_readings_decide_nothing():
    joined = join([read_as("squared"), read_as("squared", 2.0)], ["a", "b"])
    assert (joined.verdict, joined.remark) == ("confirmed", "")
    apart = "runs chose different readings (a: squared; b: plain)"
    joined = join([read_as("squared"), read_as("plain")], ["a", "b"])
    assert joined.verdict == "inconclusive"
    both = "a and b each alone would have it confirmed"
    assert joined.remark == f"{both}, but {apart}"
    assert join([read_as("squared", -1.0), read_as("plain")], ["a", "b"]).verdict == (
        "inconclusive"
    )
    unclear = [read_as(each)._replace(verdict="inconclusive") for each in "xy"]
    assert join(unclear, ["a", "b"]).remark.startswith("runs chose different readings")


def test_thresholds_on_both_sides_are_judged_together():
    falls = claim(exactly(-0.95), threshold=BELOW)
    leads = claim(share_above(0.02))
    joined = join([falls, leads], ["a", "b"])
    assert [each.verdict for each in joined.findings] == ["confirmed", "confirmed"]
    rises = claim(exactly(-0.5), threshold=BELOW)
    assert rises.verdict == "refuted"
    assert join([rises, leads], ["a", "b"]).verdict == "refuted"


def test_a_run_too_small_to_tell_stays_so():
    doubtful = claim(exactly(1.0))._replace(
        findings=(Finding("gap", exactly(1.0), None, threshold=ABOVE),),
        verdict="inconclusive",
        remark="2 seeds",
    )
    joined = join([doubtful, claim(exactly(1.0))], ["MLP", "LeNet"])
    assert joined.verdict == "inconclusive"
    assert joined.findings[0].verdict is None
    assert joined.remark == "MLP: 2 seeds"


def test_a_verdict_that_is_not_that_of_its_numbers_stands():
    # It reports two readings, of which it chose the second.
    chose = claim(exactly(-1.0), exactly(1.0))._replace(verdict="confirmed")
    joined = join([chose, claim(exactly(1.0))], ["a", "b"])
    assert joined.verdict == "confirmed"


def test_numbers_that_do_not_exist_leave_it_open():
    nothing = Estimate(np.nan, np.nan, np.nan, np.empty(0))
    joined = join([claim(nothing), claim(exactly(1.0))], ["a", "b"])
    assert joined.verdict == "inconclusive"


def test_remarks_are_kept_and_shared_ones_said_once():
    pair = [claim(exactly(1.0), remark=text) for text in ("few", "many")]
    assert join(pair, ["a", "b"]).remark == "a: few; b: many"
    assert join([pair[0]] * 2, ["a", "b"]).remark == "few"


def test_all_criteria_are_kept_and_shared_ones_said_once():
    def criterion(*texts: str) -> str:
        found = [claim(exactly(1.0))._replace(criterion=text) for text in texts]
        return join(found, ["a", "b", "c"][: len(texts)]).criterion

    assert criterion("above 0", "above 0") == "above 0"
    assert criterion("it falls", "it falls; for b, it crosses") == (
        "it falls; for b, it crosses"
    )
    assert criterion("above 0", "above 1", "above 0") == "a and c: above 0; b: above 1"


def test_claims_of_different_ids_cannot_be_joined():
    one = claim(exactly(1.0))
    with pytest.raises(
        ValueError, match=r"of one id can be joined, got \['D3', 'D4'\]"
    ):
        join([one, one._replace(id="D4")], ["a", "b"])
    with pytest.raises(ValueError, match="got none"):
        join([], [])
