import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import theory
from tests.helpers import psd_from_eigenvalues
from tests.theory.problems import sphere


def caps(rng, n):
    """Two opposite circles of latitude, labeled apart: labels are linear in inputs."""
    y = rng.choice([-1.0, 1.0], size=n)
    rest = 0.6 * sphere(rng.integers(1000), n, 3)
    return np.concatenate([0.8 * y[:, None], rest], axis=1), y


@pytest.fixture(scope="module")
def problem():
    lam = jnp.array([5.0, 2.0, 1.0, 0.5, 0.1])
    H, V = psd_from_eigenvalues(lam, jax.random.key(0))
    return np.asarray(H), np.asarray(lam), np.asarray(V)


def test_complexity_is_the_squared_distance_moved(problem):
    H, lam, V = problem
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    features = V * np.sqrt(lam)  # rows are samples
    weights = np.linalg.lstsq(features, y, rcond=None)[0]
    np.testing.assert_allclose(features @ weights, y, atol=1e-12)
    assert theory.label_complexity(H, y) == pytest.approx(weights @ weights)
    smaller = theory.label_complexity(H, y, jitter=0.3)
    assert smaller == pytest.approx(((V.T @ y) ** 2 / (lam + 0.3)).sum())


def test_scale_free_complexity_keeps_to_its_limits(problem):
    H, lam, V = problem
    one = theory.scale_free_complexity(H, V[:, 0])
    assert one == pytest.approx(np.sqrt(lam.sum() / lam[0]) / 5)
    assert one >= 1 / 5
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(200, 5))
    squares = [theory.scale_free_complexity(H, y) ** 2 for y in signs]
    assert np.mean(squares) > 1


def test_leading_term_is_that_of_arora_for_unit_inputs():
    x = sphere(0, 30, 4)
    H, y = np.asarray(theory.first_layer_kernel(x)), np.sign(x[:, 0])
    wanted = np.sqrt(2 * theory.label_complexity(H, y) / 30)
    assert 2 * theory.scale_free_complexity(H, y) == pytest.approx(wanted)


def test_bound_is_made_of_its_parts(problem):
    H, _, _ = problem
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    bound = theory.generalization_bound(H, y, 0.1)
    B = np.ceil(np.sqrt(y @ np.linalg.solve(H, y)))
    assert bound.radius == B and B > 1
    assert bound.class_term == pytest.approx(2 * B * np.sqrt(np.trace(H)) / 5)
    assert bound.confidence_term == pytest.approx(
        3 * np.sqrt(np.log(2 * B * (B + 1) / 0.1) / 10)
    )
    assert bound.value == bound.class_term + bound.confidence_term
    # A grid in the kernel's own unit makes the bound independent of its scale.
    for scale in (0.01, 100.0):
        other = theory.generalization_bound(scale * H, y, 0.1, unit=scale**-0.5)
        assert other.value == pytest.approx(bound.value)


def test_bound_with_a_known_smallest_eigenvalue(problem):
    H, _, _ = problem
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    bound = theory.generalization_bound_above(H, y, 0.1, smallest=0.05)
    assert bound.radius == theory.generalization_bound(H, y, 0.1).radius
    assert bound.confidence_term == pytest.approx(
        3 * np.sqrt(np.log(2 * 10 / 0.1) / 10)
    )
    with pytest.raises(ValueError, match="`smallest` = 5 is not below the smallest"):
        theory.generalization_bound_above(H, y, 0.1, smallest=5.0)


def test_bound_is_not_vacuous_and_holds_on_separated_classes():
    rng = np.random.default_rng(0)
    for _ in range(2):
        x, y = caps(rng, 600)
        bound = theory.generalization_bound(
            np.asarray(theory.first_layer_kernel(x)), y, 0.05
        )
        new_x, new_y = caps(rng, 1000)
        alpha = np.linalg.solve(np.asarray(theory.first_layer_kernel(x)), y)
        outputs = np.asarray(theory.first_layer_kernel(new_x, x)) @ alpha
        error = (np.sign(outputs) != new_y).mean()
        assert error <= bound.value < 0.5


@pytest.mark.parametrize("power", [1, 2, 4])
def test_polynomial_targets_cost_the_same_for_every_number_of_samples(power):
    x = sphere(1, 500, 4)
    limit = theory.polynomial_complexity_limit(power, coefficient=-2.0, norm=0.5)
    y = -2.0 * (0.5 * x[:, 0]) ** power
    H = np.asarray(theory.first_layer_kernel(x))
    costs = [theory.label_complexity(H[:n, :n], y[:n]) ** 0.5 for n in (250, 500)]
    assert costs[0] <= costs[1] <= limit
    assert costs[1] <= 1.05 * costs[0]


@pytest.mark.parametrize("power", [1, 2, 4])
def test_cost_of_polynomials_tends_to_their_norm(power):
    x = sphere(2, 500, 4)
    H = np.asarray(theory.first_layer_kernel(x))
    lam = theory.zonal_eigenvalues(
        lambda t: t * (np.pi - np.arccos(t)) / (2 * np.pi), dim=4, num=5
    )
    energies = theory.zonal_energies(lambda t: t**power, dim=4, num=5)
    norm = (energies[energies > 1e-20] / lam[energies > 1e-20]).sum()
    cost = theory.label_complexity(H, x[:, 0] ** power)
    assert 0.9 * norm < cost <= norm * (1 + 1e-9)


def test_random_labels_cost_the_trace_of_the_inverse(problem):
    H, lam, _ = problem
    expected = theory.random_label_complexity(H)
    assert expected == pytest.approx((1 / lam).sum())
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(4000, 5))
    costs = np.array([y @ np.linalg.solve(H, y) for y in signs])
    assert abs(costs.mean() - expected) < 4 * costs.std() / np.sqrt(4000)
    assert expected >= theory.random_label_floor(H) == pytest.approx(25 / lam.sum())


def test_true_labels_cost_less_than_shuffled_ones():
    x, y = caps(np.random.default_rng(3), 60)
    H = np.asarray(theory.first_layer_kernel(x))
    shuffled = theory.permuted_complexities(H, y, key=jax.random.key(0), num=50)
    assert shuffled.shape == (50,)
    assert theory.label_complexity(H, y) < shuffled.min()
    assert len(np.unique(shuffled)) > 40


def test_singular_kernels_are_refused_not_inverted():
    x = np.random.default_rng(0).normal(size=(6, 1))
    singular = np.asarray(theory.both_layers_kernel(x))
    with pytest.raises(ValueError, match="a constant coordinate may be missing"):
        theory.label_complexity(singular, np.ones(6))
    nearly = np.diag([1.0, 1e-17])
    with pytest.raises(ValueError, match="is singular, condition 1.0e\\+17"):
        theory.label_complexity(nearly, np.ones(2))
    assert theory.label_complexity(singular, np.ones(6), jitter=1e-6) > 0


def test_a_kernel_in_float32_is_known_to_its_rounding_alone(no_type_checks):
    rough = np.diag([1.0, 1e-8])
    assert theory.label_complexity(rough, np.ones(2)) == pytest.approx(1 + 1e8)
    with pytest.raises(ValueError, match="is singular, .* compute it in float64"):
        theory.label_complexity(rough.astype(np.float32), np.ones(2))
    whole = np.array([[2, 1], [1, 2]])  # integers are exact
    assert theory.label_complexity(whole, np.ones(2)) == pytest.approx(2 / 3)


def test_nan_is_refused_not_returned():
    blind = np.diag([1.0, np.nan])
    with pytest.raises(ValueError, match="`K` holds NaN or infinite"):
        theory.label_complexity(blind, np.ones(2))
    with pytest.raises(ValueError, match=r"`Y` holds NaN .* first at \(1, 0\)"):
        theory.label_complexity(np.eye(2), np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match=r"`y` holds NaN .* first at \(1,\)"):
        theory.leave_one_out_error(np.eye(2), np.array([1.0, np.nan]), ridge=0.1)


def test_labels_are_a_vector(no_type_checks):
    with pytest.raises(ValueError, match=r"one label a sample, got shape \(2, 1\)"):
        theory.label_complexity(np.eye(2), np.ones((2, 1)))


def test_labels_and_powers_outside_the_theorems_are_refused():
    with pytest.raises(ValueError, match="got the label 0.5: classes 0 and 1 become"):
        theory.generalization_bound(np.eye(2), np.array([1.0, 0.5]), 0.1)
    with pytest.raises(ValueError, match="`power` must be 1 or even, got 3"):
        theory.polynomial_complexity_limit(3)
    with pytest.raises(ValueError, match="`failure` must be a probability"):
        theory.generalization_bound(np.eye(2), np.ones(2), 0.0)
