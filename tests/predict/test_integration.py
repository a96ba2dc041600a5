import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.integrate
from scipy.special import expit, softmax

from tangentlab import predict
from tests.helpers import assert_close

from .problems import case

TIMES = np.array([7.0, 0.0, 2.0])  # in no order


@pytest.mark.parametrize(
    ("outputs", "full"), [(3, False), (2, True)], ids=["shared", "full"]
)
def test_square_loss_is_the_closed_form(outputs, full):
    p = case(outputs=outputs, full=full)
    options = {"f_0": p.f_0, "ridge": 0.2}
    exact = predict.gradient_flow(p.K, p.y, TIMES, **options)
    found = predict.loss_flow(p.K, p.y, TIMES, optax.l2_loss, **options)
    np.testing.assert_allclose(found.outputs, exact.outputs, atol=1e-6)
    np.testing.assert_allclose(found.coefficients, exact.coefficients, atol=1e-6)
    np.testing.assert_allclose(found.squared_norm, exact.squared_norm, atol=1e-6)
    there = predict.evaluate(found, p.K_test, p.f_0_test)
    wanted = predict.evaluate(exact, p.K_test, p.f_0_test)
    np.testing.assert_allclose(there, wanted, atol=1e-6)


def _integrated(K, f_0, slope, t):
    """Outputs by another solver, in function space."""
    n = len(f_0)

    def velocity(_, f):
        return -(K @ slope(f.reshape(f_0.shape)) / n).ravel()

    tight = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10}
    found = scipy.integrate.solve_ivp(velocity, (0, t), f_0.ravel(), **tight)
    return found.y[:, -1].reshape(f_0.shape)


def test_cross_entropy_of_one_logit_is_that_of_another_solver():
    p = case(seed=1)
    labels = (p.y > 0).astype(float)
    found = predict.loss_flow(
        predict.decompose(p.K), labels, 30.0, optax.sigmoid_binary_cross_entropy,
        f_0=p.f_0[:, None],
    )  # fmt: skip
    other = _integrated(p.K, p.f_0, lambda f: expit(f) - labels, 30.0)
    assert found.outputs.shape == (8,)
    np.testing.assert_allclose(found.outputs, other, atol=1e-6)


def test_classes_as_labels_take_their_outputs_from_the_start():
    p = case(outputs=3, seed=2)
    labels = np.arange(8) % 3
    found = predict.loss_flow(
        p.K, labels, 10.0, optax.softmax_cross_entropy_with_integer_labels, f_0=p.f_0
    )
    slope = np.eye(3)[labels]
    other = _integrated(p.K, p.f_0, lambda f: softmax(f, axis=1) - slope, 10.0)
    np.testing.assert_allclose(found.outputs, other, atol=1e-6)


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0]])
def test_a_class_without_an_output_is_refused(labels):
    with pytest.raises(ValueError, match=r"from .* outputs: classes .* 0\.\.2"):
        predict.loss_flow(
            np.eye(2), np.array(labels), 1.0,
            optax.softmax_cross_entropy_with_integer_labels, f_0=np.zeros((2, 3)),
        )  # fmt: skip


LONG: dict[str, Any] = {"ridge": 0.01, "max_steps": 500, "tolerance": 1e-6}


def test_an_integration_that_takes_too_long_raises():
    with pytest.raises(ValueError, match=r"t = 30000 failed after \d+ steps .*500"):
        predict.loss_flow(case().K, case().y, 3e4, optax.l2_loss, **LONG)


@pytest.mark.slow
def test_an_implicit_solver_takes_fewer_steps_on_long_times():
    implicit = pytest.importorskip("diffrax").Kvaerno5()
    p = case()
    found = predict.loss_flow(p.K, p.y, 3e4, optax.l2_loss, solver=implicit, **LONG)
    limit = predict.ridge(p.K, p.y, 0.01)
    np.testing.assert_allclose(found.outputs, limit.outputs, atol=1e-4)


def test_cross_entropy_has_no_limit_but_a_direction_and_square_loss_a_limit():
    p = case(seed=3, features=10)
    signs = np.where(np.arange(8) % 2, 1.0, -1.0)
    margin = predict.hard_margin(p.K, signs)
    times = np.array([1e4, 1e6, 1e8, 1e10])
    flow = predict.loss_flow(
        p.K, (signs + 1) / 2, times, optax.sigmoid_binary_cross_entropy
    )
    assert (np.diff(np.sqrt(flow.squared_norm)) > 10).all()  # for ever
    # theta_t = log(t) * margin + a rest that settles
    rest = flow.coefficients - np.log(times)[:, None] * margin.coefficients
    moved = np.diff(rest, axis=0)
    moved = np.sqrt(np.einsum("ti,ij,tj->t", moved, p.K, moved))
    share = moved / (np.sqrt(margin.squared_norm) * np.log(100))
    assert (np.diff(share) < 0).all() and share[-1] < 0.02
    square = predict.gradient_flow(p.K, signs, np.r_[times, np.inf])
    assert_close(square.squared_norm[1:], square.squared_norm[[4] * 4])
    away = square.coefficients[4] @ p.K @ margin.coefficients
    away = away / np.sqrt(square.squared_norm[4] * margin.squared_norm)
    assert away < 0.99  # another loss, another direction


def test_it_needs_diffrax_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "diffrax", None)
    with pytest.raises(ImportError, match="pip install diffrax"):
        predict.loss_flow(np.eye(2), np.ones(2), 1.0, optax.l2_loss)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": np.inf}, "norm grows like log t.*hard_margin"),
        ({"K": np.ones((2, 3))}, r"`K` must be the kernel .* \(2, 3\)"),
        ({"K": np.full((2, 2), np.nan)}, "`K` holds NaN"),
        ({"K": np.array([[1.0, 0.5], [0.0, 1.0]])}, "`K` must be symmetric"),
        ({"y": np.array([1.0, np.nan])}, "`y` holds NaN"),
        ({"y": np.ones(3)}, r"labels `y` of shape \(3,\) do not fit .* 2 rows"),
        ({"loss": lambda f, y: jnp.sum((f - y) ** 2)}, r"each of the 2 .* shape \(\)"),
        ({"loss": lambda f, y: jnp.ones((2, 2))}, r"got shape \(2, 2\)"),
        ({"tolerance": 0.0}, "`tolerance` must lie between 0 and 1, got 0.0"),
    ],
)
def test_what_cannot_be_integrated_raises(change, message, no_type_checks):
    options = {"K": np.eye(2), "y": np.ones(2), "t": 1.0, "loss": optax.l2_loss}
    with pytest.raises(ValueError, match=message):
        predict.loss_flow(**(options | change))


def test_64_bit_types_stay_as_they_were():
    with jax.enable_x64(False):
        found = predict.loss_flow(np.eye(1), np.ones(1), 1.0, optax.l2_loss)
        assert jnp.zeros(1).dtype == jnp.float32
    np.testing.assert_allclose(found.outputs, 1 - np.exp(-1.0), rtol=1e-7)
