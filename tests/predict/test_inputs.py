"""What every closed form takes for a kernel, and what it says of anything else."""

from typing import Any

import numpy as np
import optax
import pytest

import tangentlab as tl

predict: Any = tl.predict  # given what its annotations refuse

K, Y = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0])
K_TEST, Y_TEST = np.array([[1.0, 0.5]]), np.array([1.0])
FITTED = predict.ridgeless(K, Y)
BLOCKS = predict.split_kernel(np.eye(3) + 1, 2)

FITS = {
    "ridge": lambda K, y: predict.ridge(K, y, 0.1).outputs,
    "flow": lambda K, y: predict.gradient_flow(K, y, 1.0).outputs,
    "descent": lambda K, y: predict.gradient_descent(K, y, 3, 0.1).outputs,
    "conjugate": lambda K, y: predict.conjugate_gradients(K, y).outputs,
    "loss": lambda K, y: predict.loss_flow(K, y, 1.0, optax.l2_loss).outputs,
    "margin": lambda K, y: predict.hard_margin(K, y).outputs,
    "stopping": lambda K, y: predict.early_stopping(K, y, K_TEST, Y_TEST).time,
    "rate": lambda K, y: predict.max_learning_rate(K),
}


@pytest.fixture(autouse=True)
def _messages(no_type_checks):
    """All of these are about what users see."""


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_nested_lists_are_a_kernel(fit):
    np.testing.assert_array_equal(fit(K.tolist(), Y), fit(K, Y))


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("dtype", [int, complex])
def test_kernels_of_other_numbers_raise(fit, dtype):
    with pytest.raises(ValueError, match="`K` must be real-valued, got dtype"):
        fit(K.astype(dtype), Y)


def test_nested_lists_are_kernels_of_test_samples():
    rows, prior = K_TEST.tolist(), [[1.0]]
    evaluated = predict.evaluate(FITTED, K_TEST)
    np.testing.assert_array_equal(predict.evaluate(FITTED, rows), evaluated)
    posterior = predict.gp_posterior(K, Y, rows, prior)
    np.testing.assert_allclose(posterior.mean, evaluated)
    lists = predict.split_kernel((np.eye(3) + 1).tolist(), 2)
    for block, known in zip(lists, BLOCKS, strict=True):
        np.testing.assert_array_equal(block, known)


def test_imaginary_parts_are_not_dropped():
    one = np.eye(1)
    with pytest.raises(ValueError, match="`K_test` must be real-valued, got dtype com"):
        predict.evaluate(FITTED, 1j * K_TEST)
    with pytest.raises(ValueError, match="`K_test` must be real-valued"):
        predict.gp_posterior(K, Y, 1j * K_TEST, one)
    with pytest.raises(ValueError, match="`K_test_test` must be real-valued"):
        predict.gp_posterior(K, Y, K_TEST, 1j * one)
    with pytest.raises(ValueError, match="`f_0` must be real-valued"):
        predict.ridgeless(K, Y, f_0=1j * Y)
    with pytest.raises(ValueError, match="`y` must be real-valued"):
        predict.loss_flow(K, 1j * Y, 1.0, optax.l2_loss)


@pytest.mark.parametrize("num_train", [0, 3, 1.5, True, None])
def test_a_split_is_a_whole_number(num_train):
    with pytest.raises(ValueError, match=r"must be a whole number in 1\.\.2, got"):
        predict.split_kernel(np.eye(3), num_train)


def test_a_kernel_that_is_split_is_square():
    with pytest.raises(ValueError, match=r"square Gram matrix .* got shape \(4, 2\)"):
        predict.split_kernel(np.ones((4, 2)), 2)


@pytest.mark.parametrize("value", ["much", None, 1j, [1.0], -1, np.nan, np.inf])
def test_amounts_are_finite_numbers(value):
    with pytest.raises(ValueError, match="`ridge` must be a finite number >= 0, got"):
        predict.ridge(K, Y, value)


def test_a_rate_is_one_number():
    with pytest.raises(ValueError, match="must be one positive number, got .*0.1 0.2"):
        predict.gradient_descent(K, Y, 3, np.array([0.1, 0.2]))


@pytest.mark.parametrize("tolerance", [-1.0, 0.0, np.nan, 2.0])
def test_tolerances_lie_between_0_and_1(tolerance):
    match = "`tolerance` must lie between 0 and 1, got"
    with pytest.raises(ValueError, match=match):
        predict.hard_margin(K, Y, tolerance=tolerance)
    with pytest.raises(ValueError, match=match):
        predict.conjugate_gradients(K, Y, tolerance=tolerance)
    with pytest.raises(ValueError, match=match):
        predict.loss_flow(K, Y, 1.0, optax.l2_loss, tolerance=tolerance)


def test_labels_of_a_margin_may_be_whole_numbers():
    found = predict.hard_margin(K, Y.astype(int))
    np.testing.assert_array_equal(found.outputs, predict.hard_margin(K, Y).outputs)


@pytest.mark.parametrize("rank", [0.5, True, "all"])
def test_the_rank_of_a_preconditioner_is_a_whole_number(rank):
    with pytest.raises(ValueError, match=r"`rank` must be a whole number in 0\.\.2"):
        predict.conjugate_gradients(K, Y, rank=rank)


def test_conjugate_gradients_do_without_a_spectrum():
    with pytest.raises(ValueError, match="got its spectrum: pass `K`"):
        predict.conjugate_gradients(tl.spectrum(K), Y)


def test_a_matrix_below_zero_has_no_rate():
    with pytest.raises(ValueError, match=r"its largest eigenvalue is -1\.38, below"):
        predict.max_learning_rate(predict.decompose(-K))
    with pytest.raises(ValueError, match="`num_samples` must be the number .* got 1.5"):
        predict.max_learning_rate(K, num_samples=1.5)


def test_what_cannot_be_integrated_raises():
    with pytest.raises(TypeError, match="must be a function .* got 'square': pass"):
        predict.loss_flow(K, Y, 1.0, "square")
    with pytest.raises(ValueError, match="must hold a label for each sample, got None"):
        predict.loss_flow(K, None, 1.0, optax.l2_loss)
    with pytest.raises(ValueError, match=r"kernel of the .* got shape \(0, 0\)"):
        predict.loss_flow(np.zeros((0, 0)), Y[:0], 1.0, optax.l2_loss)
    with pytest.raises(ValueError, match="`max_steps` must be a whole number >= 1"):
        predict.loss_flow(K, Y, 1.0, optax.l2_loss, max_steps=-1)
