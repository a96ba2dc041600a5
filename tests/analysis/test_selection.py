"""What measures a network leaves the same parameters out as its Gram matrix does."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis import (
    alignment_forms,
    alignment_shares,
    energy_concentration,
    energy_concentration_of,
    gram_alignment,
    kernel_distance,
    kernel_norm_bound,
    kernel_shares,
    kernel_size,
    probe_distance_of,
    probe_kernel_of,
    rotation,
    rotation_of,
    trace_shares,
)
from tests.helpers import assert_close
from tests.networks import dense_apply

from .problems import N, network, vectors

KEY, Y = jax.random.key(0), vectors(3, N)
CHOICES = [
    {"trainable": {"params": True, "state": False}},
    {"scale": {"params": 3.0, "state": 0.5}},
    {"trainable": {"params": True, "state": False}, "scale": 2.0, "outputs": 1},
]


def problem(seed=0):
    """A network whose statistics lie beside its parameters, and its samples."""
    layers, x, _ = network(seed, 2)
    return {"params": layers[1:], "state": layers[:1]}, x


def apply(tree, x):
    return dense_apply([*tree["state"], *tree["params"]], x)


def forms_of(params, x, chosen):
    K = tl.gram(apply, params, x, **chosen)
    found = alignment_forms(apply, params, x, Y, **chosen)
    return found.unbiased, gram_alignment(K, Y).unbiased


def bound(params, x, chosen):
    K = tl.gram(apply, params, x, **chosen)
    found = kernel_norm_bound(apply, params, x, Y, **chosen)
    return found, (Y @ Y) ** 2 / (Y @ K @ Y)


def concentration(params, x, chosen):
    K = tl.gram(apply, params, x, **chosen)
    found = energy_concentration_of(apply, params, x, Y, 3, **chosen)
    return found, energy_concentration(K, Y, 3)


def eigenvalues(params, x, chosen):
    K = tl.gram(apply, params, x, **chosen)
    found = tl.spectra.spectrum_of(apply, params, x, 3, **chosen)
    return found.eigenvalues, tl.spectrum(K, 3).eigenvalues


def gains(params, x, chosen):
    before = tl.spectrum(tl.gram(apply, params, x), 4)
    K = tl.gram(apply, params, x, **chosen)
    after = gram_alignment(K, before.eigenvectors).rayleigh
    found = rotation_of(apply, params, x, before, 1, **chosen)
    return found.gains, rotation(after, before.eigenvalues, 1).gains


def norms(params, x, chosen):
    K = tl.gram(apply, params, x, **chosen)
    found = probe_kernel_of(apply, params, x, 3 * N, key=KEY, **chosen)
    return found.frobenius, kernel_size(K).frobenius


def traces(params, x, chosen):
    grams = tl.gram_by_parameter(apply, params, x, **chosen)
    parts = [np.trace(K) for K in jax.tree.leaves(grams)]
    found = trace_shares(apply, params, x, by="parameter", **chosen)
    return found.shares * found.total, np.array(parts)


def alignments(params, x, chosen):
    grams = tl.gram_by_parameter(apply, params, x, **chosen)
    parts = [Y @ K @ Y / N**2 for K in jax.tree.leaves(grams)]
    found = alignment_shares(apply, params, x, Y, by="parameter", **chosen)
    return found.shares * found.total, np.array(parts)


def whole(params, x, chosen):
    grams = tl.gram_by_parameter(apply, params, x, **chosen)
    return kernel_shares(grams).total, (tl.gram(apply, params, x, **chosen) ** 2).sum()


@pytest.mark.parametrize("chosen", CHOICES, ids=lambda each: " and ".join(each))
@pytest.mark.parametrize(
    "sides",
    [
        forms_of,
        bound,
        concentration,
        eigenvalues,
        gains,
        norms,
        traces,
        alignments,
        whole,
    ],
)
def test_is_that_of_the_gram_matrix_of_the_same_parameters(sides, chosen):
    found, expected = sides(*problem(), chosen)
    assert_close(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("chosen", CHOICES, ids=lambda each: " and ".join(each))
@pytest.mark.parametrize("centered", [False, True])
def test_distance_between_two_places(chosen, centered):
    (first, x), (second, _) = problem(0), problem(1)
    grams = [tl.gram(apply, params, x, **chosen) for params in (first, second)]
    H = np.eye(N) - (1 / N if centered else 0)
    truth = kernel_distance(*(H @ K @ H for K in grams))
    options = {"key": KEY, "centered": centered, **chosen}
    found = probe_distance_of(apply, first, second, x, 4000, **options)
    assert 0 < found.distance_error < 0.1 * truth
    assert abs(found.distance - truth) < 4 * found.distance_error
