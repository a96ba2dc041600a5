import numpy as np
import pytest

import tangentlab as tl
from tangentlab import theory
from tests.theory.problems import normal


@pytest.fixture(scope="module")
def digits():
    """A real kernel on 700 real digits: Gram matrix, labels, spectrum."""
    data = tl.data.load("digits")
    order = np.random.default_rng(0).permutation(len(data.x))[:700]
    x = np.asarray(data.x[order], np.float64).reshape(700, -1)
    x = (x - x.mean()) / x.std()
    y = np.where(np.asarray(data.y)[order] % 2 == 0, 1.0, -1.0)
    K = np.asarray(theory.both_layers_kernel(x)) / x.shape[1]
    return K, y, tl.spectrum(K)


def regress(K, y, n, ridge, num_draws=20):
    """Errors on all samples and on new ones, and what training sets say of these."""
    rng = np.random.default_rng(n)
    errors, estimates = [], []
    for _ in range(num_draws):
        rows = rng.choice(len(y), n, replace=False)
        K_train = K[np.ix_(rows, rows)]
        alpha = np.linalg.solve(K_train + ridge * np.eye(n), y[rows])
        squares = (K[:, rows] @ alpha - y) ** 2
        errors.append((squares.mean(), np.delete(squares, rows).mean()))
        estimates.append(
            (
                theory.risk_estimate(K_train, y[rows], ridge=ridge),
                theory.leave_one_out_error(K_train, y[rows], ridge=ridge),
            )
        )
    return np.mean(errors, axis=0), np.mean(estimates, axis=0)


@pytest.mark.parametrize(("n", "ridge"), [(90, 0.01), (90, 1.0)])
def test_errors_on_digits_are_predicted(digits, n, ridge):
    K, y, spectrum = digits
    modes = theory.modes_of(spectrum, y)
    risk = theory.predicted_risk(
        modes.eigenvalues, modes.energies, n, ridge=ridge,
        noise=modes.outside, unresolved=modes.unresolved,
    )  # fmt: skip
    (on_all, on_new), (aligned, left_out) = regress(K, y, n, ridge)
    assert risk.test_error == pytest.approx(on_all, rel=0.06)
    assert left_out == pytest.approx(on_new, rel=0.06)
    if ridge == 1.0:
        assert aligned == pytest.approx(on_new, rel=0.06)


def test_leaving_one_out_needs_no_second_fit():
    features = np.asarray(normal(0, 8, 30))
    K, y = features @ features.T, np.asarray(normal(1, 8))
    squares = []
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        alpha = np.linalg.solve(K[np.ix_(rest, rest)] + 0.5 * np.eye(7), y[rest])
        squares.append((K[i, rest] @ alpha - y[i]) ** 2)
    found = theory.leave_one_out_error(K, y, ridge=0.5)
    assert found == pytest.approx(np.mean(squares))


def test_estimate_is_the_training_error_over_its_shrinkage():
    features = np.asarray(normal(0, 12, 30))
    K, y = features @ features.T, np.asarray(normal(1, 12))
    inverse = np.linalg.inv(K + 0.7 * np.eye(12))
    train = ((0.7 * inverse @ y) ** 2).mean()
    wanted = train / (0.7 * np.trace(inverse) / 12) ** 2
    assert theory.risk_estimate(K, y, ridge=0.7) == pytest.approx(wanted)
    assert theory.risk_estimate(5 * K, y, ridge=3.5) == pytest.approx(wanted)


def test_modes_account_for_all_of_kernel_and_target(digits):
    K, y, spectrum = digits
    whole = theory.modes_of(spectrum, y)
    assert whole.energies.sum() + whole.outside == pytest.approx(1.0)
    leading = theory.modes_of(tl.spectrum(K, 50), y)
    assert len(leading.eigenvalues) == 50
    trace = leading.eigenvalues.sum() + leading.unresolved
    assert trace == pytest.approx(np.trace(K) / 700)
    assert leading.energies.sum() + leading.outside == pytest.approx(1.0)
    assert leading.outside > 0.01 and leading.num_negative == 0


def test_unknown_traces_and_singular_kernels_are_refused():
    found = tl.spectra.leading_pairs(lambda V: np.diag([3.0, 2.0, 1.0]) @ V, 3, 1)
    with pytest.raises(ValueError, match="`trace` is None, so that what it leaves out"):
        theory.modes_of(found, np.ones(3))
    with pytest.raises(ValueError, match="`y` holds NaN or infinite"):
        theory.modes_of(tl.spectrum(np.eye(2)), np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="pass a ridge or jitter where the function"):
        theory.risk_estimate(np.ones((2, 2)), np.ones(2), ridge=0.0)
