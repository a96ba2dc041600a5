from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab import predict
from tests.helpers import assert_close

from .problems import case, train_linearized


@pytest.mark.parametrize(
    ("momentum", "nesterov"), [(0.0, False), (0.8, False), (0.8, True)], ids=str
)
def test_it_is_gradient_descent_on_the_linearized_network(nets, momentum, nesterov):
    for net in nets:
        rate = 0.4 * predict.max_learning_rate(net.K)
        for steps in (1, 150):
            outputs, moved = train_linearized(net, steps, rate, momentum, nesterov)
            found = predict.gradient_descent(
                net.K, net.y, steps, rate, momentum=momentum, nesterov=nesterov,
                f_0=net.f_0,
            )  # fmt: skip
            assert_close(predict.evaluate(found, net.K_test, net.f_0_test), outputs)
            assert_close(found.squared_norm, np.asarray(moved)[None])


def test_it_is_gradient_descent_with_several_outputs(wide):
    rate = 0.3 * predict.max_learning_rate(wide.K)
    outputs, moved = train_linearized(wide, 60, rate, 0.9)
    found = predict.gradient_descent(
        wide.K, wide.y, 60, rate, momentum=0.9, f_0=wide.f_0
    )
    assert_close(predict.evaluate(found, wide.K_test, wide.f_0_test), outputs)
    assert_close(found.squared_norm, moved)


@pytest.mark.parametrize("nesterov", [False, True])
def test_a_ridge_is_a_pull_toward_the_start(nesterov):
    p, rate, m = case(), 0.7, 0.6
    n, beta, v = len(p.y), np.zeros(8), np.zeros(8)
    seen = []
    for _ in range(21):
        seen.append(beta)
        gradient = ((p.K + 0.5 * np.eye(n)) @ beta - (p.y - p.f_0)) / n
        v = m * v + gradient
        beta = beta - rate * (gradient + m * v if nesterov else v)
    found = predict.gradient_descent(
        p.K, p.y, np.arange(21), rate, momentum=m, nesterov=nesterov, f_0=p.f_0,
        ridge=0.5,
    )  # fmt: skip
    assert_close(found.coefficients, np.stack(seen))


def _precisely(a, m, steps):
    """Coefficient of one mode, n = mu = 1, by 60-digit numbers."""
    getcontext().prec = 60
    a, m = Decimal(a), Decimal(m)
    M = [[1 - a, a * m, a], [Decimal(-1), m, Decimal(1)], [0, 0, Decimal(1)]]
    x = [Decimal(0), Decimal(0), Decimal(1)]
    while steps:
        if steps & 1:
            x = [sum(r * v for r, v in zip(row, x, strict=True)) for row in M]
        M = [[sum(row[k] * M[k][j] for k in range(3)) for j in range(3)] for row in M]
        steps >>= 1
    return float(x[0])


@pytest.mark.parametrize("steps", [10, 10**6, 10**10 + 7])
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("a", [1e-9, 1e-4, 0.3])
def test_billions_of_steps_keep_their_digits(steps, momentum, a):
    found = predict.gradient_descent(np.eye(1), np.ones(1), steps, a, momentum=momentum)
    exact = _precisely(a, momentum, steps)
    np.testing.assert_allclose(found.coefficients, [exact], rtol=1e-13)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**16),
    first=st.integers(0, 40),
    second=st.integers(0, 40),
    share=st.floats(0.01, 0.99),
)
def test_steps_add_up(seed, first, second, share):
    p = case(seed=seed)
    found = predict.decompose(p.K)
    rate = share * predict.max_learning_rate(found)
    one = predict.gradient_descent(found, p.y, first, rate, f_0=p.f_0)
    two = predict.gradient_descent(found, p.y, second, rate, f_0=one.outputs)
    both = predict.gradient_descent(found, p.y, first + second, rate, f_0=p.f_0)
    assert_close(two.outputs, both.outputs)


def test_no_number_of_steps_is_no_solution():
    p = case(outputs=2)
    found = predict.gradient_descent(p.K, p.y, np.zeros(0), 0.1)
    assert found.outputs.shape == (0, 8, 2) and found.squared_norm.shape == (0, 2)


@pytest.mark.parametrize(
    ("momentum", "nesterov"), [(0.0, False), (0.8, False), (0.8, True)], ids=str
)
def test_small_rates_approach_the_flow_at_first_order(momentum, nesterov):
    p, t = case(seed=4), 7.0
    flow = predict.gradient_flow(p.K, p.y, t).coefficients
    steps = np.array([1000, 2000, 4000])
    options = {"momentum": momentum, "nesterov": nesterov}
    found = [
        predict.gradient_descent(p.K, p.y, k, (1 - momentum) * t / k, **options)
        for k in steps.tolist()
    ]
    errors = [np.abs(each.coefficients - flow).max() for each in found]
    order = np.diff(np.log(errors)) / np.diff(np.log(steps))
    np.testing.assert_allclose(order, -1, atol=0.05)


def test_it_ends_at_the_minimum_norm_solution_if_the_rate_allows():
    p = case(outputs=2)
    rate = 0.99 * predict.max_learning_rate(p.K, momentum=0.5)
    found = predict.gradient_descent(
        p.K, p.y, [10**5, np.inf], rate, momentum=0.5, f_0=p.f_0
    )
    least = predict.ridgeless(p.K, p.y, f_0=p.f_0)
    assert_close(found.coefficients[0], least.coefficients)
    assert_close(found.coefficients[1], least.coefficients)


@pytest.mark.parametrize("steps", [10**6, np.inf])
def test_a_rate_that_is_too_large_is_refused_where_nothing_is_left(steps):
    p = case()
    rate = 1.01 * predict.max_learning_rate(p.K)
    with pytest.raises(
        ValueError, match=r"diverges on this kernel: it is stable below"
    ):
        predict.gradient_descent(p.K, p.y, steps, rate)
    some = predict.gradient_descent(p.K, p.y, [100, 200], rate)  # still numbers
    assert np.abs(some.outputs[1]).max() > np.abs(some.outputs[0]).max()


@pytest.mark.parametrize(
    ("steps", "rate", "momentum", "message"),
    [
        (1.5, 0.1, 0.0, "`steps` must be whole numbers or infinity, got 1.5"),
        (-1, 0.1, 0.0, "`steps` must lie between 0 and infinity, got -1"),
        (1, 0.0, 0.0, "`learning_rate` must be one positive number, got 0"),
        (1, np.nan, 0.0, "`learning_rate` must be one positive number, got nan"),
        (1, 0.1, 1.0, r"`momentum` must lie in \[0, 1\), got 1.0"),
    ],
)
def test_what_is_no_gradient_descent_raises(steps, rate, momentum, message):
    with pytest.raises(ValueError, match=message):
        predict.gradient_descent(np.eye(2), np.ones(2), steps, rate, momentum=momentum)
