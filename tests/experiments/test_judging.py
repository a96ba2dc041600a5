"""From numbers per seed and task to verdicts, on numbers whose answer is known."""

import numpy as np
import pytest
import scipy.stats

from tangentlab.analysis import Claim, Estimate, Finding, Threshold, exactly, mean
from tangentlab.experiments.stages.judging import (
    estimate,
    fewer_seeds,
    too_few_seeds,
    with_verdict,
)

ABOVE = Threshold(0.0, True)


def share_above(p: float) -> Estimate:
    """An estimate whose one-sided p-value of lying above 0 is `p`."""
    replicates = np.ones(9_999)
    replicates[: round(p * 10_000) - 1] = -1.0
    return Estimate(0.5, -0.1, 0.9, replicates)


def claim(*estimates: Estimate) -> Claim:
    findings = tuple(Finding("gap", each, threshold=ABOVE) for each in estimates)
    return Claim("D3", "It leads", "above 0", findings, "inconclusive", "so it is")


def test_several_seeds_have_students_interval_and_one_has_that_of_its_tasks():
    values = np.random.default_rng(0).normal(1.0, 1.0, (5, 30))
    use = np.ones_like(values, bool)
    found = estimate(mean, use, values)
    means = values.mean(axis=1)
    expected = scipy.stats.t.interval(0.95, 4, means.mean(), scipy.stats.sem(means))
    np.testing.assert_allclose([found.low, found.high], expected)
    one = estimate(mean, use[:1], values[:1])
    assert one.high - one.low == pytest.approx(4 * values[0].std() / 30**0.5, rel=0.1)
    use[2] = False
    assert np.isnan(estimate(mean, use, values).value)


def test_numbers_of_one_claim_are_judged_together():
    weak = share_above(0.02)  # below 0.025, and above half of it
    assert with_verdict(claim(weak)).verdict == "confirmed"
    assert with_verdict(claim(weak, exactly(1.0))).verdict == "confirmed"
    both = with_verdict(claim(weak, weak))
    assert both.verdict == "inconclusive"
    assert [each.verdict for each in both.findings] == ["inconclusive"] * 2


def test_doubt_judges_nothing_and_part_of_it_only_confirms_nothing():
    doubted = with_verdict(claim(exactly(1.0)), "4 tasks")
    assert doubted.findings[0].verdict is None
    assert (doubted.verdict, doubted.remark) == ("inconclusive", "4 tasks; so it is")
    part = with_verdict(claim(exactly(1.0)), part="no crossing")
    assert part.findings[0].verdict == "confirmed"
    assert (part.verdict, part.remark) == ("inconclusive", "no crossing; so it is")
    assert with_verdict(claim(exactly(-1.0)), part="no crossing").verdict == "refuted"


@pytest.mark.parametrize(("value", "verdict"), [(1.0, "confirmed"), (-1.0, "refuted")])
def test_too_few_seeds_leave_a_claim_open_and_say_what_numbers_would(value, verdict):
    few = with_verdict(claim(exactly(value)), few="one seed, a verdict takes 5")
    assert few.verdict == "inconclusive" and few.findings[0].verdict == verdict
    assert few.remark == (
        f"one seed, a verdict takes 5; the numbers alone would have it {verdict}; "
        "so it is"
    )
    assert few.alone is not None
    assert (few.alone.verdict, few.alone.remark) == (verdict, "so it is")


def test_seeds_that_a_verdict_takes():
    assert too_few_seeds("mlp", 5, small=False) == ""
    assert too_few_seeds("mlp", 4, small=False) == "4 seeds, a verdict takes 5"
    assert too_few_seeds("resnet18", 3, small=False) == ""
    assert too_few_seeds("resnet18", 1, small=False) == "one seed, a verdict takes 3"
    assert fewer_seeds(1, 0) == ""


@pytest.mark.parametrize("model", ["mlp", "resnet18"])
def test_more_seeds_on_small_data_take_no_verdict_away(model):
    reasons = [too_few_seeds(model, num, small=True) for num in range(1, 7)]
    assert reasons == [""] * 6
