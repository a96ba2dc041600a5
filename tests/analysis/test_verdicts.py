import numpy as np
import pytest

from tangentlab.analysis import (
    Claim,
    Estimate,
    Finding,
    Threshold,
    all_of,
    bootstrap,
    exactly,
    holm,
    judge,
    judge_together,
    left_open,
    mean,
)


def estimate(center: float, spread: float = 0.01) -> Estimate:
    draws = np.random.default_rng(0).normal(center, spread, 5000)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(center, float(low), float(high), draws)


def test_holm_matches_its_definition():
    p = np.array([0.012, 0.5, 0.001, 0.04, 0.04])
    adjusted = holm(p)
    for level in (0.01, 0.025, 0.05, 0.1):
        rejected = set()
        for rank, i in enumerate(np.argsort(p, stable=True)):
            if p[i] > level / (len(p) - rank):
                break
            rejected.add(int(i))
        assert rejected == set(np.flatnonzero(adjusted <= level))
    assert holm([0.9, 0.8]).max() == 1.0


@pytest.mark.parametrize("p", [[0.5, 1.2], [np.nan], [[0.1]]])
def test_holm_takes_probabilities_alone(p):
    with pytest.raises(ValueError, match=r"numbers in \[0, 1\]"):
        holm(p)


def test_a_verdict_needs_the_interval_beyond_the_threshold():
    models = [estimate(-0.95), estimate(-0.5), estimate(-0.79, 0.05)]
    assert judge(models, -0.8, above=False) == [
        "confirmed",
        "refuted",
        "inconclusive",
    ]
    assert judge(models[:1], 0.0, above=True) == ["refuted"]


def test_several_models_at_once_need_more():
    # 2 % of the replicates are on the wrong side: enough alone, not for one of three.
    near = bootstrap(mean, np.full(3, 1.0))
    near.replicates[:200] = -1.0
    assert judge([near], 0.0, above=True) == ["confirmed"]
    assert judge([near] * 3, 0.0, above=True) == ["inconclusive"] * 3


def test_what_was_not_measured_cannot_be_told():
    nothing = Estimate(np.nan, np.nan, np.nan, np.empty(0))
    assert judge([nothing, estimate(1.0)], 0.0, above=True) == [
        "inconclusive",
        "confirmed",
    ]


@pytest.mark.parametrize(
    ("verdicts", "claim"),
    [
        (["confirmed", "confirmed"], "confirmed"),
        (["confirmed", "inconclusive"], "inconclusive"),
        (["inconclusive", "refuted"], "refuted"),
        ([], "inconclusive"),
        (["recorded", "recorded"], "recorded"),
    ],
)
def test_a_claim_about_all_models_needs_all_of_them(verdicts, claim):
    assert all_of(verdicts) == claim


def test_numbers_of_one_claim_are_judged_against_their_own_thresholds():
    near = bootstrap(mean, np.full(3, 1.0))
    near.replicates[:200] = -1.0  # 2 % are below 0: enough alone
    above, below = Threshold(0.0, True), Threshold(2.0, False)
    told = Finding("told", near)
    p = Finding("p", exactly(-1.0), threshold=Threshold(-2.0, False), kind="log p")

    def verdicts(*thresholds: Threshold) -> list:
        judged = [Finding("x", near, threshold=each) for each in thresholds]
        return [each.verdict for each in judge_together([*judged, told, p])]

    assert verdicts(above) == ["confirmed", None, "inconclusive"]
    assert verdicts(above, below) == ["confirmed"] * 2 + [None, "inconclusive"]
    assert verdicts(above, above) == ["inconclusive"] * 2 + [None, "inconclusive"]


def test_a_claim_that_is_left_open_says_what_its_numbers_would_have_it():
    claim = Claim("D1", "x", "y", (), "refuted", "so it is")
    found = left_open(claim, "one seed")
    assert found.verdict == "inconclusive" and found.alone == claim
    assert found.remark == (
        "one seed; the numbers alone would have it refuted; so it is"
    )
    assert left_open(claim, "") is claim
    unclear = left_open(claim._replace(verdict="inconclusive"), "one seed")
    assert unclear.remark == "one seed; so it is"
    recorded = claim._replace(verdict="recorded")
    assert left_open(recorded, "one seed") is recorded
