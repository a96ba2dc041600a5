from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab import predict
from tangentlab.spectra import AccuracyWarning
from tests.helpers import assert_close
from tests.networks import dense_apply
from tests.spectra.matrices import Rotated, decay

from .problems import case

TIGHT: dict[str, Any] = {"tolerance": 1e-12}


@pytest.mark.parametrize(
    ("outputs", "full"), [(None, False), (3, False), (2, True)], ids=str
)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_it_is_the_solution_by_decomposition(outputs, full, ridge):
    p = case(outputs=outputs, full=full)
    found = predict.conjugate_gradients(
        p.K, p.y, f_0=p.f_0, ridge=ridge, rank=3, **TIGHT
    )
    exact = predict.ridge(p.K, p.y, ridge, f_0=p.f_0)
    assert_close(found.coefficients, exact.coefficients)
    assert_close(found.outputs, exact.outputs)
    assert_close(found.squared_norm, exact.squared_norm)
    assert found.squared_norm.shape == exact.squared_norm.shape
    assert found.residuals is not None and found.residuals.max() < 1e-12
    there = predict.evaluate(found, p.K_test, p.f_0_test)
    assert_close(there, predict.evaluate(exact, p.K_test, p.f_0_test))


def test_the_preconditioner_saves_iterations():
    K = Rotated(decay(200, 2.0)).dense()
    y = np.random.default_rng(0).standard_normal((200, 2))
    ridge = 1e-4
    exact = np.linalg.solve(K + ridge * np.eye(200), y)
    used = []
    for rank in (0, 20, 80):
        found = predict.conjugate_gradients(
            K, y, ridge=ridge, rank=rank, tolerance=1e-9
        )
        np.testing.assert_allclose(found.coefficients, exact, atol=1e-7 / ridge)
        used.append(found.num_iterations)
    assert used[0] > 2 * used[1] and used[1] > 2 * used[2]


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), rank=st.integers(0, 8), scale=st.floats(1e-3, 1e3))
def test_rank_and_units_do_not_change_the_solution(seed, rank, scale):
    p = case(seed=seed)
    found = predict.conjugate_gradients(
        scale * p.K, p.y, ridge=0.1 * scale, rank=rank, **TIGHT
    )
    exact = np.linalg.solve(p.K + 0.1 * np.eye(8), p.y)
    assert_close(scale * found.coefficients, exact)


def test_kernels_on_disk_and_products_give_the_same(nets, tmp_path):
    net = nets[0]
    args = dense_apply, net.params, net.x
    options = {"ridge": 0.1, "f_0": net.f_0, **TIGHT}
    exact = predict.ridge(net.K, net.y, 0.1, f_0=net.f_0)
    stored = tl.gram(*args, store=tmp_path / "K")
    found = predict.conjugate_gradients(stored, net.y, **options)
    assert_close(found.coefficients, exact.coefficients)

    def product(V):
        return tl.kernel_product(*args, None, V)

    found = predict.conjugate_gradients(product, net.y, rank=2, **options)
    assert_close(found.coefficients, exact.coefficients)


def test_products_with_a_kernel_between_outputs(wide):
    args = dense_apply, wide.params, wide.x
    exact = predict.ridge(wide.K, wide.y, 0.1, f_0=wide.f_0)
    found = predict.conjugate_gradients(
        lambda V: tl.kernel_product(*args, None, V, outputs="full"),
        wide.y,
        ridge=0.1,
        f_0=wide.f_0,
        between_outputs=True,
        **TIGHT,
    )
    assert_close(found.coefficients, exact.coefficients)
    assert_close(found.squared_norm, exact.squared_norm)
    assert found.is_full and found.squared_norm.shape == ()


def test_float32_kernels_are_solved_in_float64():
    p = case(n=30, outputs=2)
    K = jnp.asarray(p.K, jnp.float32)
    found = predict.conjugate_gradients(K, p.y, ridge=0.1, **TIGHT)
    exact = np.linalg.solve(np.asarray(K, np.float64) + 0.1 * np.eye(30), p.y)
    assert_close(found.coefficients, exact)


def test_a_column_of_zeros_is_solved_at_once():
    y = np.stack([np.ones(8), np.zeros(8)], axis=1)
    found = predict.conjugate_gradients(case().K, y, **TIGHT)
    assert (found.coefficients[:, 1] == 0).all()
    assert found.residuals is not None and found.residuals[1] == 0
    none = predict.conjugate_gradients(case().K, 0 * y)
    assert none.num_iterations == 0


def test_a_tolerance_that_was_not_reached_is_told():
    K = Rotated(decay(100, 4.0)).dense()
    y = np.random.default_rng(0).standard_normal(100)
    with pytest.warns(AccuracyWarning, match=r"stopped after 3 iterations .* up to"):
        found = predict.conjugate_gradients(K, y, max_iterations=3, rank=5)
    assert found.num_iterations == 3
    left = np.linalg.norm(y - K @ found.coefficients) / np.linalg.norm(y)
    assert_close(found.residuals, left)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": np.diag([1.0, -1.0])}, "not positive definite: .* curvature"),
        ({"K": np.ones((2, 3))}, r"shape \(2, 3\) is no kernel of the 2 samples"),
        ({"K": np.eye(3)}, r"shape \(3, 3\) is no kernel of the 2 samples"),
        ({"K": lambda V: V[:1]}, r"must be that of a square matrix"),
        ({"K": lambda V: V * np.nan}, "NaN or infinite"),
        (
            {"K": lambda V: V[:1], "y": np.ones((2, 2)), "between_outputs": True},
            r"must return \(n, c, k\) = \(2, 2, 1\) .* got shape \(1, 2, 1\)",
        ),
        ({"rank": 3}, r"`rank` must be a whole number in 0\.\.2, got 3"),
        ({"tolerance": 0.0}, "`tolerance` .* between 0 and 1"),
        ({"ridge": np.inf}, "`ridge` must be a finite number"),
    ],
)
def test_what_cannot_be_solved_raises(change, message, no_type_checks):
    options = {"K": np.eye(2), "y": np.array([1.0, 2.0])} | change
    with pytest.raises(ValueError, match=message):
        predict.conjugate_gradients(**options)
