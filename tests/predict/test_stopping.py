import numpy as np
import pytest

from tangentlab import predict
from tests.helpers import assert_close

from .problems import case


def _noisy(seed, full=False):
    """A smooth truth with noise in its targets: training for ever overfits."""
    random = np.random.default_rng(seed)
    x, new = random.uniform(-2, 2, 30), random.uniform(-2, 2, 40)

    def kernel(a, b):
        return np.exp(-2 * (a[:, None] - b[None]) ** 2) + 1e-3 * (a[:, None] == b[None])

    K, K_test = kernel(x, x), kernel(new, x)
    y, y_test = np.sin(2 * x) + 0.5 * random.standard_normal(30), np.sin(2 * new)
    if full:
        return (
            K[:, None, :, None],
            y[:, None],
            K_test[:, None, :, None],
            y_test[:, None],
        )
    return K, y, K_test, y_test


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("full", [False, True])
def test_no_other_time_has_a_smaller_loss(seed, full):
    K, y, K_test, y_test = _noisy(seed, full)
    found = predict.early_stopping(K, y, K_test, y_test)
    times = np.r_[0.0, np.geomspace(1e-3, 1e9, 2001), np.inf]
    flow = predict.gradient_flow(K, y, times)
    predicted = predict.evaluate(flow, K_test).reshape(len(times), -1)
    losses = ((predicted - y_test.ravel()) ** 2).sum(axis=1) / (2 * len(y_test))
    assert 0 < found.time < np.inf
    assert found.loss <= losses.min() + 1e-12
    assert_close(found.initial_loss, losses[0])
    assert_close(found.final_loss, losses[-1])
    assert losses[-1] > 1.3 * found.loss
    there = predict.evaluate(predict.gradient_flow(K, y, found.time), K_test)
    assert_close(((there - y_test) ** 2).mean() / 2, found.loss)


def test_a_start_counts():
    p = case(outputs=2)
    found = predict.early_stopping(
        p.K, p.y, p.K_test, p.f_0_test, f_0=p.f_0, f_0_test=p.f_0_test
    )
    assert found.time == 0 and found.loss == 0  # it is right before training


def test_without_noise_it_never_stops():
    p = case()
    found = predict.early_stopping(p.K, p.y, p.K, p.y)
    assert found.loss < 1e-20 and found.final_loss < 1e-20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f_0": np.ones(8)}, "pass `f_0` and `f_0_test`, or neither"),
        ({"y_test": np.ones(4)}, r"`y_test` of shape \(4,\) does not fit 5 rows"),
        ({"K_test": np.ones((5, 7))}, "`K_test` must hold"),
        ({"K_test": np.full((5, 8), np.nan)}, "`K_test` holds NaN"),
        ({"y_test": np.full(5, np.nan)}, "`y_test` holds NaN .* first in row 0"),
    ],
)
def test_what_does_not_fit_raises(change, message, no_type_checks):
    p = case()
    options = {"K_test": p.K_test, "y_test": p.f_0_test} | change
    with pytest.raises(ValueError, match=message):
        predict.early_stopping(p.K, p.y, **options)
