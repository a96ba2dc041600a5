from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import theory
from tests.helpers import assert_close
from tests.theory.problems import sphere


def first_layer(t):
    return t * (np.pi - np.arccos(t)) / (2 * np.pi)


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_multiplicities_are_dimensions_of_polynomials(dim):
    # Homogeneous polynomials of a degree are harmonics of that degree, of two less, ...
    for degree in range(6):
        below = comb(degree + dim - 3, dim - 1) if degree > 1 else 0
        wanted = comb(degree + dim - 1, dim - 1) - below
        assert theory.harmonic_multiplicity(dim, degree) == wanted


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_eigenvalues_match_a_power_of_the_cosine(dim):
    # t^2 = 1/d + (1 - 1/d) P_2, and P_2 has eigenvalue 1 / N.
    found = theory.zonal_eigenvalues(lambda t: t**2, dim=dim, num=4)
    harmonics = theory.harmonic_multiplicity(dim, 2)
    np.testing.assert_allclose(
        found, [1 / dim, 0, (1 - 1 / dim) / harmonics, 0], atol=1e-14
    )


def test_eigenvalues_are_those_of_a_large_gram_matrix():
    x = sphere(0, 1000, 3)
    gram = np.asarray(theory.first_layer_kernel(x))
    measured = np.linalg.eigvalsh(gram)[::-1] / len(x)
    lam = theory.zonal_eigenvalues(first_layer, dim=3, num=5)
    counts = [theory.harmonic_multiplicity(3, degree) for degree in range(5)]
    wanted = np.sort(np.repeat(lam, counts))[::-1]
    np.testing.assert_allclose(measured[:9], wanted[:9], rtol=0.15)


def test_eigenvalues_add_up_to_the_trace():
    counts = np.array([theory.harmonic_multiplicity(4, k) for k in range(20)])
    lam = theory.zonal_eigenvalues(np.exp, dim=4, num=20)
    assert (counts * lam).sum() == pytest.approx(np.e, rel=1e-12)


def test_first_layer_kernel_has_no_odd_degrees_above_one():
    lam = theory.zonal_eigenvalues(first_layer, dim=4, num=12)
    assert np.abs(lam[3::2]).max() < 1e-15
    assert lam[1] == pytest.approx(1 / 16) and lam[::2].min() > 1e-6


def test_constant_coordinate_makes_odd_degrees_learnable():
    train, test = sphere(1, 400, 4), sphere(2, 300, 4)

    def target(x):
        return 4 * x[:, 0] ** 3 - 2 * x[:, 0]  # a harmonic of degree 3 on this sphere

    errors = []
    for lift in (np.asarray, theory.with_constant_coordinate):
        K = np.asarray(theory.first_layer_kernel(lift(train)))
        k = np.asarray(theory.first_layer_kernel(lift(test), lift(train)))
        alpha = np.linalg.solve(K, target(train))
        off = k @ alpha - target(test)
        errors.append(np.sqrt((off**2).mean() / (target(test) ** 2).mean()))
    assert errors[0] > 0.9 and errors[1] < 0.1


def test_energies_add_up_to_the_mean_square():
    x = sphere(4, 4000, 4)
    found = theory.zonal_energies(lambda t: np.exp(t), dim=4, num=12)
    measured = np.exp(2 * x[:, 0]).mean()
    assert found.sum() == pytest.approx(measured, rel=0.1)
    square = theory.zonal_energies(
        lambda t: t**2, dim=4, num=6
    )  # E t^4 = 3 / d (d + 2)
    np.testing.assert_allclose(square, [1 / 16, 0, 1 / 16, 0, 0, 0], atol=1e-14)


def test_lifted_points_have_unit_norm_and_the_constant():
    lifted = theory.with_constant_coordinate(jnp.array([[3.0, 4.0], [0.0, 1.0]]))
    assert_close(jnp.linalg.norm(lifted, axis=1), jnp.ones(2))
    assert_close(lifted[:, 2], jnp.full(2, 0.5**0.5))
    assert_close(lifted[0, :2], jnp.array([0.6, 0.8]) / 2**0.5)


def test_universality_coefficients_are_positive_and_those_of_the_kernel():
    found = theory.universality_coefficients(20)
    # Cauchy's integral on a circle inside the radius of convergence, 1/2.
    z = 0.3 * np.exp(2j * np.pi * np.arange(256) / 256)
    values = (z + 0.5) * (0.5 - np.arccos(z + 0.5) / (2 * np.pi))
    series = np.fft.fft(values).real[:20] / 256 / 0.3 ** np.arange(20)
    np.testing.assert_allclose(found, series, rtol=1e-8)
    assert (theory.universality_coefficients(300) > 0).all()


def test_kernel_is_a_function_of_the_product_of_the_other_coordinates():
    x = theory.with_constant_coordinate(sphere(3, 2, 3))
    z = float(x[0, :3] @ x[1, :3])
    series = theory.universality_coefficients(400) @ z ** np.arange(400)
    kernel = jax.jit(theory.first_layer_kernel)(x)[0, 1]
    assert float(kernel) == pytest.approx(series, rel=1e-6)


def test_a_point_at_the_center_is_refused():
    with pytest.raises(ValueError, match="a point that is 0, in row 1, which has no"):
        theory.with_constant_coordinate(np.array([[1.0, 0.0], [0.0, 0.0]]))


def test_dimensions_without_a_sphere_are_refused():
    with pytest.raises(ValueError, match="`dim` must be at least 2, got 1"):
        theory.zonal_eigenvalues(np.cos, dim=1, num=3)


def test_a_function_without_values_is_refused():
    with pytest.raises(ValueError, match="`kernel` holds NaN or infinite"):
        theory.zonal_eigenvalues(lambda t: np.full_like(t, np.nan), dim=3, num=2)
