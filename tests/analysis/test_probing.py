"""Estimates from products: unbiased, with errors that tell the truth."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis import (
    centered_alignment,
    kernel_distance,
    kernel_size,
    probe_distance,
    probe_kernel,
    probe_kernel_of,
)
from tests.networks import dense_apply

from .problems import N, mean_kernel, network, positive, vectors

SIDE, NUM_SEEDS = 40, 200
DECAYING = (lambda Q: (Q * np.arange(1.0, SIDE + 1) ** -1.5) @ Q.T)(
    np.linalg.qr(vectors(0, SIDE, SIDE))[0]
)
QUANTITIES = ("trace", "frobenius", "participation_ratio")


def estimates(K, num, method, centered=False, targets=None):
    """Values and errors over many seeds, a row each."""
    values, errors = [], []
    for seed in range(NUM_SEEDS):
        found = probe_kernel(
            lambda V: K @ V,
            len(K),
            num,
            key=jax.random.key(seed),
            method=method,
            centered=centered,
            targets=targets,
        )
        names = (*QUANTITIES, "alignment") if targets is not None else QUANTITIES
        values.append([np.squeeze(getattr(found, name)) for name in names])
        errors.append([np.squeeze(getattr(found, f"{name}_error")) for name in names])
    return np.array(values), np.array(errors)


@pytest.mark.parametrize("method", ["hutchinson", "hutch++"])
@pytest.mark.parametrize("centered", [False, True])
def test_estimates_scatter_about_the_truth_by_their_errors(method, centered):
    y = vectors(1, SIDE)
    H = np.eye(SIDE) - (1 / SIDE if centered else 0)
    K = H @ DECAYING @ H
    size = kernel_size(K)
    truth = [getattr(size, name) for name in QUANTITIES]
    truth += [y @ K @ y / (np.linalg.norm(K) * (y @ y))]
    values, errors = estimates(DECAYING, 90, method, centered, targets=y)
    distance = (values - truth) / errors
    covered = (np.abs(distance) < 2).mean(axis=0)
    assert (covered > 0.87).all(), covered
    assert (np.abs(distance.mean(axis=0)) < 0.5).all()


def test_hutch_plus_plus_is_better_where_eigenvalues_decay():
    plain, _ = estimates(DECAYING, 30, "hutchinson")
    better, _ = estimates(DECAYING, 30, "hutch++")
    assert (better.std(axis=0)[:2] < 0.5 * plain.std(axis=0)[:2]).all()


def test_enough_products_are_exact():
    found = probe_kernel(lambda V: DECAYING @ V, SIDE, 3 * SIDE, key=jax.random.key(0))
    size = kernel_size(DECAYING)
    for name in QUANTITIES:
        assert getattr(found, name) == pytest.approx(float(getattr(size, name)))
        assert getattr(found, f"{name}_error") < 1e-9
    assert found.alignment.shape == (0,) and found.num_products == 3 * SIDE


def test_of_a_network():
    params, x, full = network(0, 2)
    K, y = mean_kernel(full), vectors(2, N, 2)
    found = probe_kernel_of(
        dense_apply,
        params,
        x,
        3 * N,
        key=jax.random.key(0),
        targets=y,
        centered=True,
    )
    H = np.eye(N) - 1 / N
    assert found.trace == pytest.approx(np.trace(H @ K @ H), rel=1e-8)
    np.testing.assert_allclose(found.alignment, centered_alignment(K, y), rtol=1e-8)
    assert found.num_products == 3 * N + 2


def test_distance_between_two_kernels():
    K, L = DECAYING, DECAYING + 0.05 * positive(3, SIDE)
    truth, found = kernel_distance(K, L), []
    for seed in range(NUM_SEEDS):
        key = jax.random.key(seed)
        made = probe_distance(lambda V: K @ V, lambda V: L @ V, SIDE, 60, key=key)
        found.append((made.distance, made.distance_error))
    values, errors = np.array(found).T
    assert (np.abs(values - truth) < 2 * errors).mean() > 0.87
    assert abs(values.mean() / truth - 1) < 0.05
    same = probe_distance(
        lambda V: K @ V, lambda V: 3 * K @ V, SIDE, 5, key=jax.random.key(0)
    )
    assert same.distance < 1e-28


def test_messages(no_type_checks):
    key = jax.random.key(0)
    with pytest.raises(ValueError, match="at least 6 products with hutch"):
        probe_kernel(lambda V: V, 4, 5, key=key)
    with pytest.raises(ValueError, match="at least 2 products with hutchinson"):
        probe_kernel(lambda V: V, 4, 1, key=key, method="hutchinson")
    with pytest.raises(ValueError, match="Unknown method 'xtrace'"):
        probe_kernel(lambda V: V, 4, 9, key=key, method="xtrace")  # pyright: ignore
    with pytest.raises(ValueError, match=r"\(4,\), or several .* got shape \(3,\)"):
        probe_kernel(lambda V: V, 4, 9, key=key, targets=np.ones(3))
    with pytest.raises(ValueError, match="at least 2 probes"):
        probe_distance(lambda V: V, lambda V: V, 4, 1, key=key)
    with pytest.raises(ValueError, match="NaN or infinite"):
        probe_kernel(lambda V: V * np.nan, 4, 9, key=key)


def test_the_trace_of_a_network_is_also_known_exactly():
    params, x, full = network()
    exact = tl.gram_diagonal(dense_apply, params, x).sum()
    found = probe_kernel_of(
        dense_apply, params, x, 20, key=jax.random.key(1), method="hutchinson"
    )
    assert abs(found.trace - exact) < 4 * found.trace_error
    assert exact == pytest.approx(np.trace(full[:, 0, :, 0]), rel=1e-10)
