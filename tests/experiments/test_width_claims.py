"""Claims on width, laziness and dynamics, on numbers whose truth is known."""

import dataclasses

import numpy as np
import pytest

from tangentlab.experiments.flow import claims as flow
from tangentlab.experiments.kernel_limit import claims as kernel_limit
from tangentlab.experiments.lazy import claims as lazy
from tangentlab.experiments.linearization import claims as linearization
from tangentlab.experiments.losses import claims as losses
from tangentlab.experiments.wide_training import claims as wide

WIDTHS = np.array([64.0, 128.0, 256.0, 512.0, 1024.0])


def falling(exponent: float, x=WIDTHS, rows=20, noise=0.05) -> np.ndarray:
    rng = np.random.default_rng(1)
    return x[None] ** exponent * np.exp(noise * rng.normal(size=(rows, len(x))))


def verdicts(claims) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in claims}


def linearized(**changes) -> linearization.Results:
    widths = np.array([1e3, 1e4, 1e5, 1e6])
    gaps = falling(-1 / 6, widths, rows=100, noise=0.02)
    values = {
        "first": 1e-15,
        "whole": np.full(3, 1e-14),
        "without": np.full(3, 0.7),
        "smooth": {"tanh": np.full((5, 2, 2), 0.9)},
        "relu_widths": widths,
        "relu_gaps": gaps,
        "relu_bounds": 5 * widths ** (-1 / 6),
        "failure": 0.05,
    }
    return linearization.Results(**values | changes)


def test_linearization_claims_hold_where_they_are_true():
    found = linearization.claims(linearized())
    assert set(verdicts(found).values()) == {"confirmed"}
    assert "at least 70 %" in found[0].remark
    slope = found[2].findings[1].estimate
    assert slope.low <= -1 / 6 <= slope.high


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"first": 1e-3}, "D24"),
        ({"whole": np.array([1e-15, 1e-15, 0.1])}, "D24"),
        ({"smooth": {"tanh": np.array([[[0.5, 1.01]]] * 5)}}, "D25"),
        ({"relu_bounds": 0.9 * np.array([1e3, 1e4, 1e5, 1e6]) ** (-1 / 6)}, "D26"),
        ({"relu_gaps": falling(-0.4, np.array([1e3, 1e4, 1e5, 1e6]), 100)}, "D26"),
    ],
)
def test_each_linearization_claim_can_fail(change, claim):
    found = verdicts(linearization.claims(linearized(**change)))
    assert found.pop(claim) == "refuted"
    assert set(found.values()) == {"confirmed"}


def test_few_draws_cannot_tell_a_violation_rate():
    rate = linearization.violation_rate(0, 100)
    assert (rate.low, rate.high) == (0.0, pytest.approx(0.03622, abs=1e-5))
    half = linearization.violation_rate(50, 100)
    assert (half.low, half.high) == pytest.approx((0.39832, 0.60168), abs=1e-5)
    assert linearization.violation_rate(4, 4).high == 1.0
    small = linearized(relu_gaps=linearized().relu_gaps[:30])
    claim = linearization.claims(small)[2]
    assert claim.findings[0].verdict == claim.verdict == "inconclusive"


def limits(**changes) -> kernel_limit.Results:
    formulas = {
        name: np.array(1e-15)
        for name in ("derivative_error", "value_error", "kappa_error", "lecture_error")
    }
    formulas["lecture_gap"] = np.array(0.98)
    values = {
        "formulas": formulas | changes.pop("formulas", {}),
        "widths": WIDTHS,
        "errors": {"two layers": falling(-0.5)},
    }
    return kernel_limit.Results(**values | changes)


def test_kernel_claims_hold_where_they_are_true():
    found = kernel_limit.claims(limits())
    assert verdicts(found) == dict.fromkeys(("D27", "D28", "D29"), "confirmed")
    assert found[2].remark == "as printed it is off by up to 0.980"


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"formulas": {"derivative_error": np.array(1e-8)}}, "D27"),
        ({"formulas": {"lecture_error": np.array(0.2)}}, "D29"),
        ({"errors": {"two layers": falling(-0.8)}}, "D28"),
        ({"errors": {"a": falling(-0.5), "b": falling(-0.2)}}, "D28"),
    ],
)
def test_each_kernel_claim_can_fail(change, claim):
    found = verdicts(kernel_limit.claims(limits(**change)))
    assert found.pop(claim) == "refuted"
    assert set(found.values()) == {"confirmed"}


def test_few_draws_or_widths_leave_convergence_open():
    (_, few, _) = kernel_limit.claims(limits(errors={"x": falling(-0.5, rows=19)}))
    assert few.verdict == "inconclusive" and "19 draws, at least 20" in few.remark
    narrow = limits(widths=WIDTHS[:3], errors={"x": falling(-0.5, WIDTHS[:3])})
    assert "3 widths, at least 5" in kernel_limit.claims(narrow)[1].remark


def trained(activation="tanh", change=-0.95, own=-0.9, infinite=-0.5, rows=8):
    return wide.Widths(
        activation=activation,
        widths=WIDTHS,
        kernel_change=falling(change, rows=rows),
        own_gap=falling(own, rows=rows),
        infinite_gap=falling(infinite, rows=rows),
        on_the_way=np.ones((rows, len(WIDTHS), 2)),
        loss=np.ones((rows, len(WIDTHS))),
    )


def test_width_claims_hold_where_they_are_true():
    pair = trained(), trained("relu", change=-0.8)
    assert verdicts(wide.claims(pair)) == {"D33": "confirmed", "D34": "confirmed"}


@pytest.mark.parametrize(
    ("result", "claim"),
    [
        (trained(change=-0.5), "D33"),
        (trained("relu", change=-0.4), "D33"),
        (trained("relu", change=-1.3), "D33"),
        (trained(own=0.2), "D34"),
        (trained(infinite=0.2), "D34"),
    ],
)
def test_each_width_claim_can_fail(result, claim):
    found = verdicts(wide.claims((result,)))
    assert found.pop(claim) == "refuted"
    assert set(found.values()) == {"confirmed"}


def test_the_slope_of_the_widest_networks_is_told():
    change = falling(-0.2, rows=8)
    change[:, -1] = change[:, -2] * (WIDTHS[-1] / WIDTHS[-2]) ** -0.9
    bent = dataclasses.replace(trained(), kernel_change=change)
    claim = wide.claims((bent,))[0]
    assert claim.verdict == "refuted"
    told = "slope between the two largest widths alone: tanh −0.90 [−0.90, −0.90]"
    assert claim.remark == told
    order = np.argsort(-WIDTHS)
    turned = dataclasses.replace(
        bent, widths=WIDTHS[order], kernel_change=change[:, order]
    )
    assert wide.claims((turned,))[0].remark == told
    change[0, -1] = 0
    assert wide.claims((bent,))[0].remark == ""


def test_few_seeds_leave_widths_open():
    found = wide.claims((trained(rows=4),))
    assert set(verdicts(found).values()) == {"inconclusive"}
    assert "4 seeds, at least 5 are needed" in found[0].remark


def flows(moved=-1.0, apart=-2.0, outputs=-1.0, rows=6) -> lazy.Flows:
    scales = np.array([4.0, 8.0, 16.0, 32.0])
    return lazy.Flows(
        start="doubled",
        scales=scales,
        weight_distance=falling(moved, scales, rows, 0.01),
        weight_gap=falling(apart, scales, rows, 0.01),
        output_gap=falling(outputs, scales, rows, 0.01),
        kappa=np.ones((1, 4)),
    )


@pytest.mark.parametrize(
    ("powers", "verdict"),
    [
        ({}, "confirmed"),
        ({"outputs": -2.0}, "confirmed"),
        ({"moved": -0.5}, "refuted"),
        ({"moved": -1.5}, "refuted"),
        ({"apart": -1.0}, "refuted"),
        ({"outputs": -0.5}, "refuted"),
        ({"rows": 3}, "inconclusive"),
    ],
)
def test_lazy_slopes(powers, verdict):
    assert verdicts(lazy.claims((flows(**powers),))) == {"D35": verdict}


def ended(**changes) -> flow.Results:
    small = {
        field.name: np.full(5, 1e-13) for field in dataclasses.fields(flow.Results)
    }
    large = {"bare": np.full(5, 0.3), "growth": np.full(5, 1e9)}
    return flow.Results(**small | large | {"summed": np.full(5, 0.6)} | changes)


def test_flow_claims_hold_where_they_are_true():
    found = flow.claims(ended())
    assert verdicts(found) == dict.fromkeys(("D30", "D31", "D32", "D45"), "confirmed")
    assert "1e+09 or more" in found[0].remark


@pytest.mark.parametrize(
    ("change", "refuted"),
    [
        ({"norm": np.full(5, 1e-3)}, {"D30"}),
        ({"interpolation": np.full(5, 1e-3)}, {"D30"}),
        ({"flow": np.full(5, 0.4)}, {"D31", "D45"}),
        ({"summed": np.full(5, 1e-9)}, {"D45"}),
        ({"ridge": np.full(5, 1e-2)}, {"D32"}),
        ({"gaussian": np.full(5, 1e-2)}, {"D32"}),
    ],
)
def test_each_flow_claim_can_fail(change, refuted):
    found = verdicts(flow.claims(ended(**change)))
    assert {name for name, verdict in found.items() if verdict == "refuted"} == refuted


def test_few_seeds_leave_flows_open():
    few = {field.name: np.full(4, 1e-13) for field in dataclasses.fields(flow.Results)}
    found = flow.claims(flow.Results(**few))
    assert set(verdicts(found).values()) == {"inconclusive"}


def two_losses(rate=1.0, cosine=0.99, distance=1e-9, seeds=5) -> losses.Results:
    times = np.tile(np.logspace(0, 6, 25), (seeds, 1))
    margin = np.linspace(2.0, 3.0, seeds)
    return losses.Results(
        times=times,
        norms=5 + rate * margin[:, None] * np.log(times),
        margin_norm=margin,
        to_margin=np.full((seeds, 25), cosine),
        square_distance=np.full((seeds, 25), distance),
        ends_cosine=np.full(seeds, 0.9),
    )


def test_growth_is_in_units_of_the_margin():
    np.testing.assert_allclose(losses.growth_rates(two_losses(1.3)), 1.3)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "confirmed"),
        ({"rate": 0.0}, "refuted"),
        ({"rate": 1.5}, "refuted"),
        ({"cosine": 0.8}, "refuted"),
        ({"distance": 0.1}, "refuted"),
        ({"seeds": 3}, "inconclusive"),
    ],
)
def test_losses(change, verdict):
    assert verdicts(losses.claims(two_losses(**change))) == {"D48": verdict}
