import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from tangentlab import theory
from tests.networks import dense_apply, dense_params
from tests.theory.problems import normal, two_layer_weights


@pytest.fixture(scope="module")
def network():
    params = dense_params(jax.random.key(0), (3, 5, 2))
    x = normal(1, 4, 3)
    flat, rebuild = ravel_pytree(params)
    dense = jax.jit(lambda theta: dense_apply(rebuild(theta), x).ravel())
    J = np.asarray(jax.jacrev(dense)(flat))
    T = np.asarray(jax.jacfwd(jax.jacrev(dense))(flat))  # outputs, parameters squared
    return params, x, J, T


def tensor_norm(T, num_starts=10):
    """Largest <u, T[v, v]> by dense eigenvectors of T contracted with many u."""
    rng, best = np.random.default_rng(0), 0.0
    for _ in range(num_starts):
        u = rng.normal(size=len(T))
        for _ in range(30):
            lam, V = np.linalg.eigh(np.einsum("o,opq->pq", u / np.linalg.norm(u), T))
            v = V[:, np.abs(lam).argmax()]
            u = np.einsum("opq,p,q->o", T, v, v)
        best = max(best, np.linalg.norm(u))
    return best


def test_norms_are_those_of_dense_derivatives(network):
    params, x, J, T = network
    y, outputs = jnp.ones((4, 2)), np.asarray(dense_apply(params, x))
    found = theory.laziness_of(
        dense_apply, params, x, y, key=jax.random.key(2), scale=5.0
    )
    assert found.derivative_norm == pytest.approx(np.linalg.norm(J, 2), rel=1e-7)
    second = tensor_norm(T)
    assert found.second_derivative_norm == pytest.approx(second, rel=1e-6)
    # The criterion of the network whose outputs and derivatives are five times these.
    residual = np.linalg.norm(5 * outputs - 1)
    kappa = residual * 5 * second / np.linalg.norm(5 * J, 2) ** 2
    assert found.kappa == pytest.approx(kappa, rel=1e-6)
    assert found.residual_norm == pytest.approx(residual)


def test_one_output_at_one_sample_has_the_hessian_norm(getkey):
    def apply(params, x):  # Hessian with eigenvalues 1 and -1, which oscillate
        return params[0] * params[1] * x

    found = theory.second_derivative_norm(
        apply, jnp.zeros(2), jnp.full((1, 1), 3.0), key=getkey(), num_starts=2
    )
    assert found == pytest.approx(3.0)


def test_linear_networks_are_perfectly_lazy(getkey):
    x, y = normal(1, 4, 3), jnp.ones((4, 1))
    found = theory.laziness_of(lambda w, x: x @ w, jnp.ones((3, 1)), x, y, key=getkey())
    assert found.kappa == 0.0
    assert found.derivative_norm == pytest.approx(np.linalg.norm(x, 2))
    assert found.residual_norm == pytest.approx(float(jnp.linalg.norm(x.sum(1) - 1)))


def test_criterion_of_a_doubled_network_falls_with_the_scale():
    kappas = [theory.laziness_criterion(2.0, 3.0, 4.0, scale=s) for s in (1.0, 10.0)]
    assert kappas == pytest.approx([8 / 9, 0.8 / 9])


@pytest.mark.slow
def test_criterion_falls_with_width(getkey):
    x = normal(1, 4, 3)
    kappas = []
    for width in (10, 1000):
        a, W = two_layer_weights(0, width, 3)
        apply = theory.doubled(theory.two_layer(a, jnp.tanh))
        found = theory.laziness_of(apply, (W, W), x, jnp.ones((4, 1)), key=getkey())
        kappas.append(found.kappa)
    assert 3 < kappas[0] / kappas[1] < 40  # ten, the square root of widths


def test_targets_of_another_shape_are_refused(network):
    params, x, _, _ = network
    with pytest.raises(ValueError, match="shape of the outputs, \\(4, 2\\), got \\(4,"):
        theory.laziness_of(
            dense_apply, params, x, jnp.ones((4, 1)), key=jax.random.key(0)
        )
    with pytest.raises(
        ValueError, match="`derivative_norm` must be a finite number ab"
    ):
        theory.laziness_criterion(1.0, 0.0, 1.0)
