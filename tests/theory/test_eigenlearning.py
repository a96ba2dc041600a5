import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab import theory

POWER = 1.0 / np.arange(1, 201) ** 1.5


def measured(lam, v, n, *, ridge, noise, num_draws, seed=0):
    """Kernel regression with Gaussian features: error, mean and spread of weights."""
    rng = np.random.default_rng(seed)
    errors, trains, learned = [], [], []
    for _ in range(num_draws):
        phi = rng.normal(size=(n, len(lam)))
        y = phi @ v + np.sqrt(noise) * rng.normal(size=n)
        K = (phi * lam) @ phi.T + ridge * np.eye(n)
        dual = np.linalg.solve(K, y)
        weights = lam * (phi.T @ dual)
        errors.append(((weights - v) ** 2).sum() + noise)
        trains.append(((ridge * dual) ** 2).mean())
        learned.append(weights)
    return np.mean(errors), np.mean(trains), np.array(learned)


@pytest.mark.parametrize(("ridge", "noise"), [(0.0, 0.0), (0.05, 0.1), (1.0, 0.0)])
def test_errors_of_gaussian_designs_are_predicted(ridge, noise):
    v = np.sqrt(POWER)
    risk = theory.predicted_risk(POWER, v**2, 40.0, ridge=ridge, noise=noise)
    test, train, learned = measured(
        POWER, v, 40, ridge=ridge, noise=noise, num_draws=300
    )
    assert risk.test_error == pytest.approx(test, rel=0.03)
    bias = ((learned.mean(axis=0) - v) ** 2).sum()
    assert risk.bias == pytest.approx(bias, rel=0.05)
    variance = learned.var(axis=0).sum()
    assert risk.variance == pytest.approx(variance, rel=0.06)
    assert risk.train_error == pytest.approx(train, rel=0.06, abs=1e-15)
    means, errors = learned.mean(axis=0) / v, learned.std(axis=0) / v / np.sqrt(300)
    assert (np.abs(risk.learnabilities - means) < 4.5 * errors + 0.01).all()


def test_learning_curve_is_followed_over_its_length():
    v = 1.0 / np.arange(1, 201)
    sizes = [10, 30, 90]
    curve = theory.learning_curve(POWER, v**2, sizes, ridge=0.01)
    found = [
        measured(POWER, v, n, ridge=0.01, noise=0.0, num_draws=100, seed=n)[0]
        for n in sizes
    ]
    np.testing.assert_allclose(curve.test_error, found, rtol=0.06)
    assert curve.num_samples.tolist() == sizes
    assert (np.diff(curve.regularization) < 0).all()


@settings(deadline=None, max_examples=60)
@given(
    spread=st.floats(0.0, 40.0),
    num=st.integers(1, 60),
    n=st.floats(0.01, 100.0),
    ridge=st.sampled_from([0.0, 1e-12, 1.0, 1e6]),
)
def test_regularization_solves_its_equation(spread, num, n, ridge):
    lam = np.logspace(0, -spread, num)
    kappa = theory.effective_regularization(lam, n, ridge=ridge)
    if kappa == 0:
        assert ridge == 0 and num <= n
        return
    total = (lam / (lam + kappa)).sum() + ridge / kappa
    assert total == pytest.approx(n, rel=1e-9)


def test_multiplicities_are_repeated_eigenvalues():
    lam, counts = np.array([1.0, 0.2, 0.01]), np.array([1, 5, 50])
    energy = np.array([1.0, 0.5, 0.1])
    short = theory.predicted_risk(lam, energy, 12.0, ridge=0.1, multiplicities=counts)
    full = theory.predicted_risk(
        np.repeat(lam, counts), np.repeat(energy / counts, counts), 12.0, ridge=0.1
    )
    for name in ("regularization", "bias", "variance", "test_error", "train_error"):
        assert getattr(short, name) == pytest.approx(getattr(full, name))


def test_learnability_is_conserved_and_shared():
    risk = theory.predicted_risk(POWER, POWER, 30.0)
    assert risk.learnabilities.sum() == pytest.approx(30)
    assert (
        theory.predicted_risk(POWER, POWER, 30.0, ridge=1.0).learnabilities.sum() < 30
    )
    equal = theory.predicted_risk(np.ones(120), np.ones(120), 30.0)
    ceiling = theory.learnability_ceiling(30.0, 120.0)
    np.testing.assert_allclose(equal.learnabilities, ceiling)
    assert theory.learnability_ceiling(500.0, 120.0) == 1.0


def test_small_modes_that_are_not_listed_act_as_a_ridge():
    whole = theory.predicted_risk(POWER, POWER, 10.0, ridge=0.01, noise=0.02)
    short = theory.predicted_risk(
        POWER[:100], POWER[:100], 10.0, ridge=0.01,
        noise=0.02 + POWER[100:].sum(), unresolved=POWER[100:].sum(),
    )  # fmt: skip
    assert short.test_error == pytest.approx(whole.test_error, rel=2e-3)
    assert short.train_error == pytest.approx(whole.train_error, rel=2e-2)


def test_fewer_modes_than_samples_are_least_squares():
    risk = theory.predicted_risk([2.0, 1.0, 0.0], [1.0, 1.0, 0.3], 10.0, noise=0.2)
    assert risk.regularization == 0.0
    assert risk.learnabilities.tolist() == [1.0, 1.0, 0.0]
    assert risk.test_error == pytest.approx(0.5 * 10 / 8)
    assert risk.train_error == pytest.approx(0.5 * 8 / 10)
    exact = theory.predicted_risk([2.0, 1.0], [1.0, 1.0], 10.0)
    assert exact.test_error == 0.0
    assert theory.predicted_risk([2.0], [1.0], 1.0, noise=0.1).test_error == np.inf


@pytest.mark.parametrize("n", [20, 80])
def test_sphere_kernels_have_their_learning_curve_by_theory_alone(n):
    dim, rng = 15, np.random.default_rng(n)

    def kernel(t):
        turned = t * (np.pi - np.arccos(t)) / np.pi
        return turned + np.sqrt(1 - t**2) / (2 * np.pi)

    lam = np.maximum(theory.zonal_eigenvalues(kernel, dim=dim, num=30), 0)
    counts = np.array([theory.harmonic_multiplicity(dim, k) for k in range(30)])
    energies = np.zeros(30)
    energies[1:3] = 1 / dim, 4 / (dim * (dim + 2))  # E[x_1^2], 4 E[x_1^2 x_2^2]
    errors = []
    for _ in range(60):
        x = rng.normal(size=(n + 400, dim))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        y = x[:, 0] + 2 * x[:, 0] * x[:, 1]
        K = kernel(np.clip(x @ x[:n].T, -1, 1))
        fitted = K[n:] @ np.linalg.solve(K[:n], y[:n])
        errors.append(((fitted - y[n:]) ** 2).mean())
    risk = theory.predicted_risk(
        lam, energies, n, multiplicities=counts, unresolved=1 - (counts * lam).sum()
    )
    assert risk.test_error == pytest.approx(np.mean(errors), rel=0.06)


def test_spectra_and_energies_that_do_not_pair_are_refused(no_type_checks):
    with pytest.raises(ValueError, match="rounding made negative are 0"):
        theory.predicted_risk([1.0, -1e-18], [1.0, 1.0], 3.0)
    with pytest.raises(ValueError, match="for each of the 2 eigenvalues, got shape"):
        theory.predicted_risk([1.0, 0.5], [1.0], 3.0)
    for energy in (np.inf, np.nan):
        with pytest.raises(ValueError, match="`energies` must hold a finite squared"):
            theory.predicted_risk([1.0], [energy], 3.0)
    for count in (0.0, np.inf):
        with pytest.raises(ValueError, match="`multiplicities` must hold a finite"):
            theory.effective_regularization([1.0, 0.5], 3.0, multiplicities=[1, count])
    with pytest.raises(ValueError, match="`num_samples` must be a finite number above"):
        theory.effective_regularization([1.0], 0.0)
