import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab import predict
from tangentlab.spectra import AccuracyWarning
from tests.helpers import assert_close

from .problems import case, train_linearized

TIMES = np.array([0.0, 0.3, 5.0, 40.0])


def _integrated(K, y, f_0, times, ridge=0.0):
    """Outputs by an ODE solver, straight from the gradient of the mean loss."""
    n, side = len(y), int(np.prod(K.shape[: K.ndim // 2]))
    K = K.reshape(side, side)

    def velocity(_, beta):
        beta = beta.reshape(side, -1)
        f = f_0.reshape(side, -1) + K @ beta
        return (-(f - y.reshape(side, -1) + ridge * beta) / n).ravel()

    tight = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
    begin = np.zeros(y.size)
    found = scipy.integrate.solve_ivp(
        velocity, (0, times[-1]), begin, t_eval=times, **tight
    )
    change = [K @ b.reshape(side, -1) for b in found.y.T]
    return f_0 + np.stack(change).reshape(-1, *y.shape)


@pytest.mark.parametrize(
    ("outputs", "full"), [(None, False), (3, False), (2, True)], ids=str
)
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_outputs_are_those_of_the_differential_equation(outputs, full, ridge):
    p = case(outputs=outputs, full=full, seed=1)
    found = predict.gradient_flow(p.K, p.y, TIMES, f_0=p.f_0, ridge=ridge)
    assert_close(found.outputs, _integrated(p.K, p.y, p.f_0, TIMES, ridge))
    assert found.coefficients.shape == (4, *p.y.shape)
    assert found.squared_norm.shape == ((4, 3) if outputs == 3 else (4,))


def test_the_exponent_without_the_number_of_samples_is_that_of_another_loss():
    p = case(seed=2)
    truth = _integrated(p.K, p.y, p.f_0, TIMES)
    r, n = p.f_0 - p.y, len(p.y)

    def jacot(t):
        return np.stack([p.y + scipy.linalg.expm(-s * p.K) @ r for s in t])

    assert np.abs(jacot(TIMES) - truth).max() > 0.2
    assert_close(jacot(TIMES / n), truth)
    assert_close(predict.gradient_flow(p.K, p.y, TIMES, f_0=p.f_0).outputs, truth)


def test_a_kernel_shared_by_outputs_is_one_between_outputs_that_do_not_mix():
    p = case(outputs=2, seed=3)
    K = np.einsum("ij,ab->iajb", p.K, np.eye(2))
    K_test = np.einsum("ij,ab->iajb", p.K_test, np.eye(2))
    shared = predict.gradient_flow(p.K, p.y, TIMES, f_0=p.f_0)
    full = predict.gradient_flow(K, p.y, TIMES, f_0=p.f_0)
    assert_close(full.outputs, shared.outputs)
    assert_close(full.squared_norm, shared.squared_norm.sum(axis=-1))
    assert_close(
        predict.evaluate(full, K_test, p.f_0_test),
        predict.evaluate(shared, p.K_test, p.f_0_test),
    )


def test_it_starts_at_the_start_and_ends_at_the_targets():
    p = case(outputs=2)
    found = predict.gradient_flow(p.K, p.y, [0.0, np.inf], f_0=p.f_0)
    assert (found.outputs[0] == p.f_0).all() and (found.coefficients[0] == 0).all()
    assert_close(found.outputs[1], p.y)
    assert_close(found.outputs[1], predict.ridgeless(p.K, p.y, f_0=p.f_0).outputs)
    assert_close(
        predict.gradient_flow(p.K, p.y, 1e9).coefficients,
        predict.gradient_flow(p.K, p.y, np.inf).coefficients,
    )
    assert found.condition == pytest.approx(np.linalg.cond(p.K))
    assert found.num_unresolved == 0


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**16),
    first=st.floats(0, 50),
    second=st.floats(0, 50),
)
def test_times_add_up(seed, first, second):
    p = case(seed=seed)
    found = predict.decompose(p.K)
    one = predict.gradient_flow(found, p.y, first, f_0=p.f_0)
    two = predict.gradient_flow(found, p.y, second, f_0=one.outputs)
    both = predict.gradient_flow(found, p.y, first + second, f_0=p.f_0)
    assert_close(two.outputs, both.outputs)
    assert_close(one.coefficients + two.coefficients, both.coefficients)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16))
def test_a_long_time_is_the_minimum_norm_solution(seed):
    p = case(seed=seed)
    found = predict.decompose(p.K)
    limit = predict.ridgeless(found, p.y, f_0=p.f_0)
    long = 40 * len(p.y) / found.eigenvalues.min()
    for t in (long, np.inf):
        flow = predict.gradient_flow(found, p.y, t, f_0=p.f_0)
        assert_close(flow.coefficients, limit.coefficients)
        assert_close(flow.squared_norm, limit.squared_norm)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), t=st.floats(0, 1e4), scale=st.floats(1e-3, 1e3))
def test_order_of_samples_and_units_of_the_kernel_do_not_matter(seed, t, scale):
    p = case(seed=seed)
    order = np.random.default_rng(seed).permutation(len(p.y))
    plain = predict.gradient_flow(p.K, p.y, t)
    turned = predict.gradient_flow(p.K[np.ix_(order, order)], p.y[order], t)
    assert_close(turned.outputs, plain.outputs[order])
    assert_close(turned.squared_norm, plain.squared_norm)
    scaled = predict.gradient_flow(scale * p.K, p.y, t / scale)
    assert_close(scaled.outputs, plain.outputs)


def test_small_steps_of_a_linearized_network_approach_it_at_first_order(nets):
    for net in nets:
        limit = predict.gradient_flow(net.K, net.y, 6.0, f_0=net.f_0)
        limit = predict.evaluate(limit, net.K_test, net.f_0_test)
        errors = []
        for steps in (100, 200):
            outputs, _ = train_linearized(net, steps, 6.0 / steps)
            errors.append(float(jnp.abs(outputs - limit).max()))
        assert errors[1] < 0.05 and errors[0] / errors[1] == pytest.approx(2, abs=0.1)


def test_every_form_of_a_kernel_gives_the_same(tmp_path, nets):
    net = nets[0]
    args = net.y, TIMES
    exact = predict.gradient_flow(net.K, *args).coefficients
    tiles = tl.gram(
        lambda p, x: x @ p, np.eye(3)[:, :1], np.asarray(net.x), store=tmp_path / "K"
    )
    for K in (np.asarray(net.K), tl.spectrum(net.K), predict.decompose(net.K)):
        assert_close(predict.gradient_flow(K, *args).coefficients, exact)
    stored = predict.gradient_flow(tiles, *args, ridge=0.1).coefficients
    read = predict.gradient_flow(tiles.to_array(), *args, ridge=0.1).coefficients
    assert_close(stored, read)


def test_a_singular_kernel_learns_what_lies_in_its_range_and_says_so():
    x = np.array([1.0, 2.0, -1.0, 3.0])
    K, y = np.outer(x, x), np.array([1.0, 2.0, 0.0, 0.0])
    with pytest.warns(AccuracyWarning, match="3 of 4 eigenvalues .* left unlearned"):
        found = predict.gradient_flow(K, y, [1.0, np.inf])
    assert_close(found.outputs[1], x * (x @ y) / (x @ x))
    assert found.num_unresolved == 3 and np.isfinite(found.coefficients).all()
    without = predict.gradient_flow(K, y, 1e6)  # finite times need no inverse
    assert_close(without.outputs, found.outputs[1])
    rounded = K.astype(np.float32) / 3
    with pytest.warns(AccuracyWarning, match="3 of 4"):
        found = predict.gradient_flow(rounded, y, np.inf)
    np.testing.assert_allclose(found.outputs, x * (x @ y) / (x @ x), rtol=1e-5)


def test_a_kernel_of_zeros_learns_nothing():
    found = predict.gradient_flow(np.zeros((3, 3)), np.ones(3), 2.0)
    assert (found.outputs == 0).all() and found.condition == np.inf


def _spectrum_of_part():
    return tl.spectrum(np.diag([3.0, 2.0, 1.0]), 2)


@pytest.mark.parametrize(
    ("K", "y", "options", "message"),
    [
        (np.eye(2), np.ones(3), {}, r"`y` of shape \(3,\) does not fit .* 2 rows"),
        (np.eye(2), np.ones(2, int), {}, "real-valued, got dtype int64.*one_hot"),
        (np.eye(2), np.ones((2, 1, 1)), {}, r"\(n,\), .* got shape \(2, 1, 1\)"),
        (np.eye(2), np.array([0, np.nan]), {}, "`y` holds NaN .* first in row 1"),
        (np.eye(2), np.ones(2), {"t": -1.0}, "between 0 and infinity, got -1"),
        (np.eye(2), np.ones(2), {"t": np.nan}, "between 0 and infinity, got nan"),
        (np.eye(2), np.ones(2), {"ridge": -1.0}, "`ridge` must be a finite .* -1.0"),
        (np.eye(2), np.ones(2), {"f_0": np.ones(3)}, r"`f_0` must be shaped .* \(3,\)"),
        (np.ones((2, 3)), np.ones(2), {}, r"`K` must be the kernel .* \(2, 3\)"),
        (np.diag([1.0, -1.0]), np.ones(2), {}, "lowest eigenvalue is -1, .*`ridge=2`"),
        (np.diag([1.0, np.nan]), np.ones(2), {}, "`K` holds NaN"),
        (_spectrum_of_part(), np.ones(3), {}, "2 of 3 modes.*conjugate_gradients"),
    ],
)
def test_what_has_no_meaning_raises(K, y, options, message, no_type_checks):
    options = {"t": 1.0} | options
    with pytest.raises(ValueError, match=message):
        predict.gradient_flow(K, y, **options)


def test_it_cannot_be_traced_and_says_so():
    with pytest.raises(
        TypeError, match=r"cannot be traced: call them outside `jax.jit"
    ):
        jax.jit(lambda K: predict.ridge(K, np.ones(2), 0.1).outputs)(jnp.eye(2))
