"""Learning curves on the sphere, where the spectrum is known exactly."""

import jax
import numpy as np
from jaxtyping import Float

from ... import predict, theory

_DEGREES = 10
_TEST = 400


def sphere_curves(
    dim: int,
    degrees: tuple[int, ...],
    sizes: tuple[int, ...],
    draws: int,
    seed: int,
) -> dict[str, Float[np.ndarray, "..."]]:
    """Mean squared error for zonal harmonics, predicted and measured.

    The kernel is that of a wide ReLU network with both layers trained; targets have
    mean square 1, so that 1 is the error of saying nothing.

    Args:
        dim: Of the space around the sphere.
        degrees: Of the targets.
        sizes: Numbers of training samples.
        draws: Independent draws of all samples.
        seed: Decides them.

    Returns:
        `measured` (draws, targets, sizes) and `predicted` (targets, sizes).
    """
    kernel = theory.relu_kernel_function
    with jax.enable_x64(True):
        lam = np.maximum(theory.zonal_eigenvalues(kernel, dim=dim, num=_DEGREES), 0)
    counts = [theory.harmonic_multiplicity(dim, degree) for degree in range(_DEGREES)]
    rest = max(1.0 - float(np.dot(lam, counts)), 0.0)
    predicted = []
    for degree in degrees:
        energies = np.eye(_DEGREES)[degree]
        curve = theory.learning_curve(
            lam, energies, sizes, multiplicities=counts, unresolved=rest
        )
        predicted.append(curve.test_error)
    measured = [_measure(dim, degrees, sizes, [seed, draw]) for draw in range(draws)]
    return {"predicted": np.stack(predicted), "measured": np.stack(measured)}


def _measure(
    dim: int, degrees: tuple[int, ...], sizes: tuple[int, ...], seed: list[int]
) -> Float[np.ndarray, "t s"]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(max(sizes) + _TEST, dim))
    x = z / np.linalg.norm(z, axis=1, keepdims=True)
    Y = np.stack([_harmonic(x[:, 0], dim, degree) for degree in degrees], axis=1)
    with jax.enable_x64(True):
        K = np.asarray(theory.both_layers_kernel(x))
    test = slice(max(sizes), None)
    errors = []
    for n in sizes:
        fitted = predict.ridgeless(K[:n, :n], Y[:n])
        outputs = predict.evaluate(fitted, K[test, :n])
        errors.append(((outputs - Y[test]) ** 2).mean(axis=0))
    return np.stack(errors, axis=1)


def _harmonic(
    t: Float[np.ndarray, " n"], dim: int, degree: int
) -> Float[np.ndarray, " n"]:
    """The zonal harmonic of a degree, with mean square 1."""
    before, current = np.zeros_like(t), np.ones_like(t)
    for k in range(degree):
        ahead = (2 * k + dim - 2) * t * current - k * before
        before, current = current, (ahead / (k + dim - 2) if k else t)
    return current * theory.harmonic_multiplicity(dim, degree) ** 0.5
