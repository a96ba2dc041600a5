"""Claims D36 to D44 on numbers whose truth is known."""

import dataclasses

import numpy as np
import pytest

from tangentlab.analysis import over_draws
from tangentlab.experiments.bounds import claims as bounds
from tangentlab.experiments.landscapes import claims as landscapes
from tangentlab.experiments.random_labels import claims as random_labels
from tangentlab.experiments.universality import claims as universality

RNG = np.random.default_rng(0)


def case(**changes) -> bounds.Measured:
    values = {
        "name": "case",
        "bound": np.tile([0.8, 0.4], (5, 1)),
        "error": np.full((5, 2), 0.1),
        "true_labels": np.full((5, 2), 3.0),
        "shuffled_labels": RNG.uniform(20, 30, (5, 2, 50)),
        "rademacher": RNG.uniform(0.9, 0.95, 5),
    }
    return bounds.Measured(**values | changes)


def judged(made) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in made}


def test_bounds_that_hold():
    found = judged(bounds.claims((case(), case()), 0.05))
    assert found == {"D36": "confirmed", "D37": "confirmed", "D38": "confirmed"}


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"rademacher": np.full(5, 1.2)}, "D36"),
        ({"rademacher": np.full(5, 0.5)}, "D36"),
        ({"true_labels": np.full((5, 2), 25.0)}, "D37"),
        ({"error": np.full((5, 2), 0.5)}, "D38"),
    ],
)
def test_bounds_that_do_not(change, claim):
    found = judged(bounds.claims((case(), case(**change)), 0.05))
    assert found.pop(claim) == "refuted"
    assert set(found.values()) == {"confirmed"}


def test_a_bound_that_says_nothing_is_vacuous():
    vacuous = case(bound=np.full((5, 2), 1.4))
    (*_, claim) = bounds.claims((vacuous,), 0.05)
    assert claim.verdict == "inconclusive"
    assert claim.remark.startswith("vacuous: 0 of 10 bounds are below ½")
    assert bounds.claims((vacuous, case()), 0.05)[-1].verdict == "confirmed"


def test_few_draws_decide_nothing():
    few = bounds.Measured(
        "few",
        bound=np.full((3, 1), 0.4),
        error=np.zeros((3, 1)),
        true_labels=np.full((3, 2), 3.0),
        shuffled_labels=np.full((3, 2, 9), 20.0),
        rademacher=np.full(3, 0.9),
    )
    for claim in bounds.claims((few,), 0.05):
        assert claim.verdict == "inconclusive"
        assert claim.remark.startswith(
            "3 draws, a verdict takes 5; the numbers alone would have it confirmed"
        )


def test_a_draw_counts_once_however_many_bounds_it_has():
    rng = np.random.default_rng(1)
    shared = rng.uniform(-0.5, 0.5, (5, 1)) + np.zeros((5, 40))
    (*_, claim) = bounds.claims((case(bound=np.full((5, 40), 0.4), error=shared),), 1.0)
    gap = claim.findings[-1].estimate
    expected = over_draws(0.4 - shared[:, 0])
    assert (gap.low, gap.high) == pytest.approx((expected.low, expected.high))


def training(fitted, **changes) -> random_labels.Measured:
    seeds, tasks = np.shape(fitted)
    values = {
        "shares": (0.0, 0.5, 1.0),
        "names": ("gaussian",),
        "train_error": np.zeros((seeds, tasks)),
        "fitted": np.asarray(fitted, float),
        "test_error": np.full((seeds, tasks), 0.2),
    }
    return random_labels.Measured(**values | changes)


def test_random_labels_fitted_later():
    slower = np.array([[10, 20, 30, 9]] * 5) + RNG.integers(0, 3, (5, 4))
    assert judged(random_labels.claims(training(slower))) == {"D39": "confirmed"}
    faster = slower[:, ::-1]
    assert judged(random_labels.claims(training(faster[:, 1:]))) == {"D39": "refuted"}
    wrong = training(slower, train_error=np.full((5, 4), 0.1))
    assert judged(random_labels.claims(wrong)) == {"D39": "refuted"}
    unfinished = np.where(slower == slower.max(), np.inf, slower)
    (claim,) = random_labels.claims(training(unfinished))
    assert claim.verdict == "inconclusive" and "did not fit in time" in claim.remark


def test_what_never_fitted_has_no_slowdown():
    fitted = np.array([[10.0, 20.0, np.inf, 5.0], [np.inf, 20.0, np.inf, 5.0]])
    slowdown = training(fitted).slowdown
    np.testing.assert_array_equal(slowdown, [[1, 2, np.nan], [np.nan] * 3])


def test_epochs_to_fit_count_from_one():
    accuracy = np.array([[0.5, 1.0, 1.0], [0.5, 0.6, 0.9], [1.0, 0.9, 1.0]])
    assert random_labels.epochs_to_fit(accuracy).tolist() == [2, np.inf, 1]


def descents(**changes) -> landscapes.Measured:
    starts = np.array([-1.0, -0.2, 0.3, 2.0])
    values = {
        "starts": starts,
        "ends": np.where(starts < 0, starts, 1.0),
        "depths": (2, 3),
        "eigenvalues": np.array([[-1.0, 1.0], [0.0, 0.0]]),
        "losses": np.full((2, 4), 0.3),
        "gradient_norms": np.full((2, 4), 1e-12),
        "minimum": np.full(2, 0.3),
    }
    return landscapes.Measured(**values | changes)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ("confirmed", "confirmed")),
        ({"ends": np.ones(4)}, ("refuted", "confirmed")),
        ({"ends": np.array([-1.0, -0.2, 0.9, 1.0])}, ("refuted", "confirmed")),
        ({"starts": np.ones(4), "ends": np.ones(4)}, ("inconclusive", "confirmed")),
        ({"eigenvalues": np.zeros((2, 2))}, ("confirmed", "refuted")),
        ({"losses": np.full((2, 4), 0.4)}, ("confirmed", "refuted")),
        ({"gradient_norms": np.ones((2, 4))}, ("confirmed", "inconclusive")),
    ],
)
def test_landscapes(change, expected):
    found = landscapes.claims(descents(**change))
    assert tuple(claim.verdict for claim in found) == expected


def kernels(**changes) -> universality.Measured:
    noise = RNG.uniform(0, 0.01, 5)
    errors = np.zeros((5, 2, 2))
    errors[:, 0, 1], errors[:, 1, 1] = 1.1 + noise, 0.04 + noise
    line = np.zeros((5, 2, 4))
    line[:, :, :2], line[:, :, 2] = 1.0, 1e-16
    values = {
        "powers": (1, 2),
        "errors": errors,
        "line": line,
        "costs": np.full((5, 3, 4), 2.0) + noise[:, None, None],
    }
    return universality.Measured(**values | changes)


def test_kernels_that_are_as_the_lectures_say():
    found = judged(universality.claims(kernels()))
    assert found == {"D42": "confirmed", "D43": "confirmed", "D44": "confirmed"}


@pytest.mark.parametrize(
    ("field", "index", "value", "claim"),
    [
        ("errors", np.s_[:, 0, 1], 0.5, "D42"),
        ("errors", np.s_[:, 1, 1], 0.5, "D42"),
        ("line", np.s_[:, 0, 2], 0.1, "D43"),
        ("line", np.s_[:, 0, 1], 0.0, "D43"),
        ("costs", np.s_[:, -1, 0], 2.5, "D44"),
        ("costs", np.s_[:, :, 1], 9.0, "D44"),
    ],
)
def test_kernels_that_are_not(field, index, value, claim):
    measured = kernels()
    changed = np.array(getattr(measured, field))
    changed[index] = value
    changes = {field: changed}
    found = judged(universality.claims(dataclasses.replace(measured, **changes)))
    assert found.pop(claim) == "refuted"
    assert set(found.values()) == {"confirmed"}
