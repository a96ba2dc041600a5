"""Claims on results whose truth is known."""

import numpy as np
import pytest

from tangentlab.experiments.eigenfunctions.claims import claims, trends
from tangentlab.experiments.eigenfunctions.results import Ended, Results
from tangentlab.experiments.stages.indices import spread_indices


def ended(accuracy: np.ndarray, **changes) -> Ended:
    s, t = accuracy.shape
    rising = np.tile(np.arange(1.0, t + 1), (s, 1))
    values = {
        "accuracy": accuracy,
        "loss": rising,
        "iterations": rising,
        "distance": rising,
        "cosine": rising,
        "diverged": np.zeros((s, t), bool),
        "seconds": np.ones(s),
    }
    return Ended(**values | changes)


def results(
    gap=0.05, shared=0.02, noise=0.002, num=44, seeds=(42,), slope=-0.06, **changes
) -> Results:
    """Accuracies that fall with the index, with a common and an own fluctuation."""
    rng = np.random.default_rng(0)
    index = np.array(spread_indices(num, 999))
    shape = (len(seeds), num)
    common = 0.95 + slope * np.log(index + 1) + shared * rng.normal(size=shape)
    network, linearized = (
        ended(common + lead + noise * rng.normal(size=shape)) for lead in (0.0, gap)
    )
    balance = np.full(shape, 0.45)
    balance[:, 0] = 1.0
    values = {
        "data": "digits",
        "model": "mlp",
        "num_train": 500,
        "num_test": 100,
        "seeds": seeds,
        "index": index,
        "eigenvalue": np.ones(shape),
        "balance": balance,
        "chance": np.maximum(balance, 1 - balance),
        "degenerate": balance > 0.95,
        "unresolved": np.zeros(shape, bool),
        "network": network,
        "linearized": linearized,
        "reference": None,
    }
    return Results(**values | changes)


def verdicts(found: Results) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in claims(found)}


FIVE = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("seeds", [(42,), FIVE], ids=["one seed", "five"])
def test_all_hold_where_all_is_true(seeds):
    found = claims(results(seeds=seeds))
    assert [claim.id for claim in found] == ["D1", "D2", "D3", "D47"]
    assert {claim.verdict for claim in found} == {"confirmed"}
    lead = found[2].findings[0].estimate
    assert lead.low < 0.05 < lead.high and lead.high - lead.low < 0.01


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"slope": 0.0}, "D1"),
        ({"shared": 0.0, "noise": 0.02}, "D2"),
        ({"gap": -0.05}, "D3"),
        ({"balance": np.full((1, 44), 0.5)}, "D47"),
    ],
)
def test_each_is_refused_where_it_is_false(change, claim):
    found = verdicts(results(**change))
    expected = "inconclusive" if claim == "D2" else "refuted"
    assert found.pop(claim) == expected
    assert set(found.values()) == {"confirmed"}


def test_rank_agreement_by_the_common_fall_alone_is_not_enough():
    (_, agreement, *_) = claims(results(shared=0.0, noise=0.02))
    partial, raw = agreement.findings
    assert raw.estimate.low > 0.8 and raw.verdict is None
    assert partial.estimate.low < 0 < partial.estimate.high


def test_too_few_tasks_or_seeds_cannot_be_told():
    few = claims(results(num=11))
    assert [claim.verdict for claim in few[:2]] == ["inconclusive"] * 2
    assert few[0].remark == "10 tasks of use, at least 20 are needed"
    assert few[2].verdict == "confirmed"  # 6 indices from 10 on
    (fall, *_) = claims(results(seeds=(1, 2, 3)))
    assert "3 seeds, an interval over seeds needs at least 5" in fall.remark
    assert verdicts(results(seeds=(1, 2, 3), model="resnet18"))["D1"] == "confirmed"


def test_degenerate_and_diverged_tasks_do_not_count():
    whole = results()
    bad = np.zeros((1, 44), bool)
    bad[0, 5:9] = True
    wild = whole.network.accuracy.copy()
    wild[bad] = 0.0
    outliers = ended(wild, diverged=bad)
    left = claims(results(network=outliers))[0].findings[0].estimate
    assert left.value < -0.9
    counted = claims(results(network=ended(wild)))[0].findings[0].estimate
    assert counted.value > left.value + 0.05


def test_nothing_to_measure_cannot_be_told():
    everything = np.ones((1, 44), bool)
    found = claims(results(degenerate=everything))
    assert {claim.verdict for claim in found[:3]} == {"inconclusive"}
    assert np.isnan(found[0].findings[0].estimate.value)


def test_runs_that_never_reached_the_loss_rank_last():
    steps = np.arange(1.0, 45)[None].copy()
    steps[0, 30:] = np.inf
    slow = ended(results().network.accuracy, iterations=steps)
    found = {f.name: f.estimate.value for f in trends(results(network=slow))}
    assert found["linearization, steps to a loss of 0.01"] == pytest.approx(1.0)
    assert 0.8 < found["network, steps to a loss of 0.01"] < 1.0
    assert len(found) == 6
