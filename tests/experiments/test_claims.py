"""Claims on results whose truth is known."""

import dataclasses

import numpy as np
import pytest

from tangentlab.analysis import Finding, exactly
from tangentlab.claims.joining import join
from tangentlab.experiments.eigenfunctions.claims import about_accuracy, claims
from tangentlab.experiments.eigenfunctions.crossing import crossing, crossing_text
from tangentlab.experiments.eigenfunctions.dynamics import trends
from tangentlab.experiments.eigenfunctions.measuring import nothing
from tangentlab.experiments.eigenfunctions.results import Ended, Results
from tangentlab.experiments.stages.indices import spread_indices

FIVE = (1, 2, 3, 4, 5)


def ended(accuracy: np.ndarray, **changes) -> Ended:
    s, t = accuracy.shape
    rising = np.tile(np.arange(1.0, t + 1), (s, 1))
    values = {
        "accuracy": accuracy,
        "loss": np.full((s, t), 0.1),
        "iterations": rising,
        "distance": rising,
        "cosine": rising,
        "diverged": np.zeros((s, t), bool),
        "seconds": np.ones(s),
    }
    return Ended(**values | changes)


def results(
    gap=0.05, shared=0.02, noise=0.002, num=44, seeds=FIVE, slope=-0.06, **changes
) -> Results:
    """Accuracies that fall with the index, with a common and an own fluctuation.

    `gap` is the lead of the linearization, one number or one for each task.
    """
    rng = np.random.default_rng(0)
    index = np.array(spread_indices(num, 999))
    shape = (len(seeds), num)
    common = 0.95 + slope * np.log(index + 1) + shared * rng.normal(size=shape)
    network, linearized = (
        ended(common + lead + noise * rng.normal(size=shape), **more)
        for lead, more in (
            (0.0, {"distance": np.tile(np.arange(1.0, num + 1), (len(seeds), 1))}),
            (gap, {"loss": np.full(shape, 0.2)}),
        )
    )
    wobble = rng.normal(size=shape)
    network = dataclasses.replace(network, distance=network.distance + 0.5 * wobble)
    balance = np.full(shape, 0.45)
    balance[:, 0] = 1.0
    values = {
        "data": "digits",
        "model": "mlp",
        "optimizer": "sgd",
        "num_train": 500,
        "num_test": 100,
        "seeds": seeds,
        "index": index,
        "eigenvalue": np.ones(shape),
        "complexity": np.ones(shape),
        "balance": balance,
        "chance": np.maximum(balance, 1 - balance),
        "degenerate": balance > 0.95,
        "unresolved": np.zeros(shape, bool),
        "overlaps": tuple(0.785 + 0.01 * rng.normal(size=(len(seeds), num))),
        "probability_gap": np.log(index + 1.0) + 0.1 * wobble,
        "logit_gap": np.log(index + 1.0) + 0.1 * wobble,
        "disagreement": np.ones(shape),
        "network": network,
        "linearized": linearized,
        "reference": None,
    }
    return Results(**values | changes)


def verdicts(found: Results) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in claims(found)}


@pytest.mark.parametrize("seeds", [(42,), FIVE], ids=["one seed", "five"])
def test_all_hold_where_all_is_true(seeds):
    found = claims(results(seeds=seeds))
    assert [claim.id for claim in found] == [
        "D1", "D2", "D3", "D9", "D20", "D21", "D46", "D47"
    ]  # fmt: skip
    assert {claim.verdict for claim in found[:-1]} == {"confirmed"}
    assert found[-1].verdict == "recorded"
    shown = [claim.id for claim in about_accuracy(found)]
    assert shown == ["D1", "D2", "D3", "D47"]
    lead = found[2].findings[0].estimate
    assert lead.low < 0.05 < lead.high and lead.high - lead.low < 0.01


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"slope": 0.0}, "D1"),
        ({"shared": 0.0, "noise": 0.02}, "D2"),
        ({"gap": -0.05}, "D3"),
        ({"overlaps": tuple(0.7 + 0.01 * np.eye(5, 44))}, "D20"),
        ({"linearized": "faster"}, "D21"),
        ({"probability_gap": "falling"}, "D46"),
        ({"network": "shrinking"}, "D9"),
    ],
)
def test_each_is_refused_where_it_is_false(change, claim):
    whole = results()
    known = {
        "faster": dataclasses.replace(whole.linearized, loss=np.full((5, 44), 0.05)),
        "falling": -whole.probability_gap,
        "shrinking": dataclasses.replace(
            whole.network, cosine=whole.network.cosine[:, ::-1]
        ),
    }
    change = {
        name: known[value] if isinstance(value, str) else value
        for name, value in change.items()
    }
    found = verdicts(results(**change))
    expected = "inconclusive" if claim == "D2" else "refuted"
    assert found.pop(claim) == expected
    assert found.pop("D47") == "recorded"
    assert set(found.values()) == {"confirmed"}


def test_whether_the_leading_task_is_degenerate_is_recorded():
    (*_, leading) = claims(results())
    assert "100.0 % in its larger class and is degenerate" in leading.remark
    (*_, leading) = claims(results(balance=np.full((5, 44), 0.5)))
    assert "50.0 % in its larger class and is not degenerate" in leading.remark


def test_rank_agreement_by_the_common_fall_alone_is_not_enough():
    (_, agreement, *_) = claims(results(shared=0.0, noise=0.02, seeds=(42,)))
    partial, raw = agreement.findings
    assert raw.estimate.low > 0.8 and raw.verdict is None
    assert partial.estimate.low < 0 < partial.estimate.high


def test_too_few_tasks_or_seeds_cannot_be_told():
    few = claims(results(num=11))
    assert [claim.verdict for claim in few[:2]] == ["inconclusive"] * 2
    assert few[0].remark == "10 tasks of use, at least 20 are needed"
    assert few[2].verdict == "confirmed"  # 6 indices from 10 on
    (fall, *_) = claims(results(seeds=(1, 2, 3), data="cifar10"))
    assert fall.remark == (
        "3 seeds, a verdict takes 5; the numbers alone would have it confirmed"
    )
    assert fall.verdict == "inconclusive" and fall.alone is not None
    assert {each.verdict for each in fall.findings} == {"confirmed"}
    assert verdicts(results(seeds=(1, 2, 3)))["D1"] == "confirmed"  # small data
    resnet = results(seeds=(1, 2, 3), data="cifar10", model="resnet18")
    assert verdicts(resnet)["D1"] == "confirmed"


def test_one_seed_decides_nothing_on_real_data():
    (fall, *_) = claims(results(seeds=(42,), data="cifar10"))
    assert fall.verdict == "inconclusive" and fall.remark == (
        "one seed, a verdict takes 5; the numbers alone would have it confirmed"
    )
    assert {each.verdict for each in fall.findings} == {"confirmed"}
    (few, *_) = claims(results(seeds=(42,), data="cifar10", num=11))
    assert few.remark == (
        "one seed, a verdict takes 5; 10 tasks of use, at least 20 are needed"
    )
    large = claims(results(seeds=(42,), data="cifar10", model="resnet18"))[0]
    assert large.remark.startswith("one seed, a verdict takes 3; ")


def test_degenerate_and_diverged_tasks_do_not_count():
    whole = results()
    bad = np.zeros((5, 44), bool)
    bad[:, 5:9] = True
    wild = whole.network.accuracy.copy()
    wild[bad] = 0.0
    outliers = ended(wild, diverged=bad)
    left = claims(results(network=outliers))[0].findings[0].estimate
    assert left.value < -0.9
    counted = claims(results(network=ended(wild)))[0].findings[0].estimate
    assert counted.value > left.value + 0.05


def test_nothing_to_measure_cannot_be_told():
    everything = np.ones((5, 44), bool)
    found = claims(results(degenerate=everything))
    assert {claim.verdict for claim in found[:4]} == {"inconclusive"}
    assert np.isnan(found[0].findings[0].estimate.value)
    empty = results(overlaps=(np.empty(0),) * 5)
    assert verdicts(empty)["D20"] == "inconclusive"


def test_what_was_judged_says_against_what():
    for claim in claims(results()):
        for finding in claim.findings:
            assert (finding.threshold is None) == (finding.verdict is None)
    (few, *_) = claims(results(num=11))
    assert {finding.threshold for finding in few.findings} == {None}


def test_steps_that_are_never_reached_are_reported_as_ties():
    steps = np.full((5, 44), np.inf)
    slow = ended(results().network.accuracy, iterations=steps)
    (claim,) = (c for c in claims(results(network=slow)) if c.id == "D9")
    assert "215 of 215 runs of the network" in claim.remark
    assert claim.verdict == "inconclusive"  # constants have no correlation


def test_a_loss_of_exactly_zero_counts_as_small():
    zero = ended(results().network.accuracy, loss=np.zeros((5, 44)))
    assert verdicts(results(network=zero))["D21"] == "confirmed"


@pytest.mark.parametrize(
    ("change", "verdict"),
    [({}, "confirmed"), ({"gap": -0.05}, "refuted"), ({"num": 11}, "inconclusive")],
    ids=["true", "false", "small"],
)
def test_under_adam_all_three_must_stay(change, verdict):
    (claim,) = claims(results(optimizer="adam", **change))
    assert (claim.id, claim.verdict) == ("D4", verdict)
    assert len(claim.findings) == 5


INDEX = np.array(spread_indices(44, 999))


@pytest.mark.parametrize("seeds", [(42,), FIVE], ids=["one seed", "five"])
@pytest.mark.parametrize(
    ("gap", "verdict"),
    [
        (np.where(INDEX < 500, 0.05, -0.05), "confirmed"),
        (np.where(INDEX < 500, -0.05, 0.05), "confirmed"),
        (np.full(44, 0.05), "refuted"),
        (np.where(INDEX < 20, 0.05, -0.05), "refuted"),
        (np.zeros(44), "inconclusive"),
    ],
    ids=["near 500", "the other way", "never", "near 20", "nothing"],
)
def test_curves_of_lenet_on_mnist_cross_near_500(gap, verdict, seeds):
    found = results(gap=gap, data="mnist", model="lenet", seeds=seeds)
    (claim,) = claims(found)
    assert claim.id == "D5"
    assert (claim.alone or claim).verdict == verdict
    assert (claim.alone is None) == (len(seeds) == 5)


FIRST, LAST = "indices 1 to 4", "indices 617 to 999"


@pytest.mark.parametrize(
    ("gap", "told"),
    [
        (0.05, "the linearization is ahead at both ends, so the curves do not cross"),
        (-0.05, "the network is ahead at both ends, so the curves do not cross"),
        (
            np.where(INDEX < 20, 0.05, -0.05),
            f"the linearization is ahead at {FIRST} and the network is ahead at {LAST}:"
            " the curves cross near index 19",
        ),
        (
            np.where(INDEX < 20, 0.0, 0.05),
            f"neither is clearly ahead at {FIRST}, so whether the curves cross is open",
        ),
    ],
)
def test_it_says_in_words_whether_and_where_curves_cross(gap, told):
    (claim,) = claims(results(gap=gap, data="mnist", model="lenet"))
    assert claim.remark.startswith(told)
    assert claims(results(gap=gap, data="mnist"))[0].remark == ""


def test_a_crossing_that_no_change_of_sign_fits_is_told():
    first, last = (
        Finding(f"lead of the linearization, {at}", exactly(lead), percent=True)
        for at, lead in ((FIRST, 0.1), (LAST, -0.2))
    )
    told = crossing_text(first, last, Finding("crossing", nothing()))
    assert told.endswith("but one sign fits the gaps best, without a crossing")


@pytest.mark.parametrize("side", [1, -1, 0])
def test_it_says_where_logits_have_it_the_other_way(side):
    whole = results()
    gap = side * whole.probability_gap
    (claim,) = (c for c in claims(results(logit_gap=gap)) if c.id == "D46")
    told = "of logits the opposite holds: partial ρ −"
    assert claim.remark.startswith(told) == (side < 0) and claim.verdict == "confirmed"
    assert side < 0 or claim.remark == ""


def test_an_mlp_on_mnist_needs_to_fall_alone():
    (claim,) = claims(results(data="mnist"))
    assert claim.verdict == "confirmed" and len(claim.findings) == 2
    (claim,) = claims(results(data="mnist", slope=0.0))
    assert claim.verdict == "refuted"


def test_the_crossing_is_part_of_what_both_networks_are_judged_by():
    (mlp,) = claims(results(data="mnist"))
    (lenet,) = claims(results(data="mnist", model="lenet"))
    joined = join([mlp, lenet], ["MLP", "LeNet"])
    assert joined.verdict == "refuted"
    assert joined.criterion == lenet.criterion != mlp.criterion
    assert joined.limit == "ρ below −0.8, a crossing"


def test_the_crossing_is_between_the_tasks_around_it():
    index = np.array([0, 9, 99, 999])
    gap = np.array([[1.0, 1.0, 1.0, -1.0], [1.0, -1.0, -1.0, -1.0], [1.0] * 4])
    rows = np.broadcast_to(index, gap.shape)
    expected = [np.sqrt(100 * 1000) - 1, np.sqrt(10) - 1, np.inf]
    np.testing.assert_allclose(crossing(gap, rows), expected)


def test_runs_that_never_reached_the_loss_rank_last():
    steps = np.tile(np.arange(1.0, 45), (5, 1))
    steps[:, 30:] = np.inf
    slow = ended(results().network.accuracy, iterations=steps)
    found = {f.name: f.estimate.value for f in trends(results(network=slow))}
    assert found["linearization, steps to a loss of 0.01"] == pytest.approx(1.0)
    assert 0.8 < found["network, steps to a loss of 0.01"] < 1.0
    assert len(found) == 6


@pytest.mark.parametrize("order, verdict", [(1, "inconclusive"), (-1, "refuted")])
def test_ties_that_keep_tau_below_its_threshold_refute_nothing(order, verdict):
    """In perfect order, 28 of 44 tied: no order of them has a larger tau."""
    steps = np.tile(np.arange(1.0, 45), (5, 1))
    steps[:, 16:] = np.inf
    network = dataclasses.replace(results().network, iterations=steps)
    turned = dataclasses.replace(network, distance=network.distance[:, ::order])
    (claim,) = (c for c in claims(results(network=turned)) if c.id == "D9")
    first = claim.findings[0]
    assert first.name == "network, steps to a loss of 0.01"
    assert first.estimate.value < 0.8 and first.verdict is None
    assert f"at most {first.estimate.value:.2f}, whatever their order" in claim.remark
    assert claim.verdict == verdict  # by the distance, which has no ties


def test_steps_by_the_loss_of_a_batch_are_reported_beside_and_not_judged():
    def with_steps(steps: np.ndarray) -> Results:
        pair = results().pair
        network, linearized = (
            dataclasses.replace(each, iterations_by_batch=steps) for each in pair
        )
        return results(network=network, linearized=linearized)

    rising = np.tile(np.arange(1.0, 45), (5, 1))
    for steps, tau in ((rising, 1.0), (rising[:, ::-1], -1.0)):
        (claim,) = (c for c in claims(with_steps(steps)) if c.id == "D9")
        *_, network, linearized = claim.findings
        assert network.name == "network, steps to a batch loss of 0.01"
        assert linearized.name == "linearization, steps to a batch loss of 0.01"
        for finding in (network, linearized):
            assert finding.estimate.value == pytest.approx(tau)
            assert finding.verdict is None and finding.threshold is None
        assert (claim.verdict, len(claim.findings)) == ("confirmed", 8)
