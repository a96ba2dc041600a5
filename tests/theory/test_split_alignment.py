import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import theory
from tests.helpers import jacobian_gram, psd_from_eigenvalues
from tests.networks import dense_apply, dense_params
from tests.theory.problems import normal


def test_lemma_1_is_an_equality_on_eigenvectors_alone(getkey):
    lam = jnp.array([4.0, 2.0, 0.5, 0.01])
    K, V = psd_from_eigenvalues(lam, getkey())
    for j in range(4):
        sides = theory.kernel_norm(K, 2 * V[:, j])
        assert float(sides.squared) == pytest.approx(4 / float(lam[j]), rel=1e-10)
        assert float(sides.bound) == pytest.approx(4 / float(lam[j]), rel=1e-10)
    mixed = theory.kernel_norm(K, V[:, 0] + V[:, 3])
    assert mixed.squared > 1.5 * mixed.bound


@pytest.fixture(scope="module")
def network():
    """Parameters, samples, a function, and the products f_i K_ij f_j."""
    params = dense_params(jax.random.key(0), (3, 4, 1))
    x, f = normal(0, 11, 3), normal(1, 11)
    K = np.asarray(jacobian_gram(dense_apply, params, x)[:, 0, :, 0])
    return params, x, f, K * np.outer(f, f)


def test_a_batch_for_each_sample_gives_the_unbiased_form(network):
    params, x, f, products = network
    found = theory.alignment_estimate(dense_apply, params, x, f, num_batches=11)
    assert found.plug_in == pytest.approx(products.mean(), rel=1e-10)
    others = products[~np.eye(11, dtype=bool)]
    assert found.value == pytest.approx(others.mean(), rel=1e-10)


def test_no_sample_is_dropped_from_unequal_batches(network):
    params, x, f, products = network
    found = theory.alignment_estimate(dense_apply, params, x, f, num_batches=4)
    assert found.plug_in == pytest.approx(products.mean())
    own = np.zeros((11, 11), bool)
    for rows in (slice(0, 2), slice(2, 5), slice(5, 8), slice(8, 11)):
        own[rows, rows] = True
    assert found.value == pytest.approx(products[~own].mean())


def test_error_covers_the_alignment_of_the_distribution():
    # A linear model and normal inputs: the alignment with x_1 is 1.
    x = normal(0, 4000, 3)
    found = theory.alignment_estimate(
        lambda w, x: x @ w, jnp.ones((3, 1)), x, x[:, 0], num_batches=40
    )
    assert abs(found.value - 1) < 4 * found.standard_error < 0.4


def test_functions_that_do_not_fit_are_refused(getkey):
    params, x = dense_params(getkey(), (3, 4, 2)), jnp.ones((4, 3))
    with pytest.raises(ValueError, match="this one has 2 outputs: pick one"):
        theory.alignment_estimate(dense_apply, params, x, jnp.ones(4), num_batches=2)
    one = dense_params(getkey(), (3, 4, 1))
    with pytest.raises(ValueError, match="4 samples cannot be cut into 5 batches"):
        theory.alignment_estimate(dense_apply, one, x, jnp.ones(4), num_batches=5)
    with pytest.raises(ValueError, match="each of the 4 samples, got shape \\(3,\\)"):
        theory.alignment_estimate(dense_apply, one, x, jnp.ones(3))
