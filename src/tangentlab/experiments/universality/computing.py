r"""What the kernel of a wide ReLU network can fit.

On the sphere the first-layer kernel has no odd degrees above 1: an odd cubic is
interpolated and not learned, unless inputs carry a constant coordinate. On the line,
without one, the kernel of both layers has rank 2. Polynomials of degree 1 and of even
degree cost a bounded norm however many samples there are, and other labels do not.

Reference:
    The UBC lecture (CPSC 532S, March 2022); the CentraleSupelec lecture (class 5,
    January 2025); Arora et al., "Fine-grained analysis of optimization and
    generalization for overparameterized two-layer neural networks", ICML 2019, theorem
    6.1.
"""

import dataclasses

import jax
import numpy as np
from jaxtyping import Float

from ... import predict, theory
from ..._progress import progress_bar
from ...store import RunFolder
from ..stages.findings import LEAST_DRAWS

RANDOM, SIGN = "random signs", "sign of x₁"
"""Labels without a bounded norm, to compare polynomials with."""

_DEGREES = 12


@dataclasses.dataclass(frozen=True)
class Universality:
    """Look at what the kernel of a wide ReLU network can and cannot fit."""

    num_train: int = 800
    """Training samples of the odd cubic, on the sphere of four dimensions."""
    num_test: int = 400
    """Test samples of the odd cubic."""
    num_line: int = 60
    """Points on the line, for the rank of the kernel there."""
    powers: tuple[int, ...] = (1, 2, 4)
    """Polynomial targets: 1, or even."""
    sizes: tuple[int, ...] = (100, 200, 400, 800, 1600)
    """Numbers of samples for what labels cost; each twice the one before."""
    draws: int = 5
    """Draws of all samples. Five are needed for intervals."""
    seed: int = 0
    """Decides them."""


def run(config: Universality, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; draws that are there are not computed again.
        progress: Show a progress bar.
    """
    _check(config)
    with progress_bar("Kernels", config.draws, show=progress, unit="draws") as advance:
        for draw in range(config.draws):
            if not folder.has_arrays(f"draw-{draw}"):
                rng = np.random.default_rng([config.seed, draw])
                with jax.enable_x64(True):  # ranks and inverses want all digits
                    arrays = _draw(config, rng)
                folder.save_arrays(f"draw-{draw}", **arrays)
            advance(1)
    folder.save_arrays("spectrum", **_spectrum())
    for draw in range(config.draws):
        saved = folder.arrays(f"draw-{draw}")
        folder.log(
            draw=draw, errors=saved["errors"], singular_values=saved["line"][:, :4]
        )


def target_names(config: Universality) -> tuple[str, ...]:
    """The labels of which the cost is measured, in order.

    Args:
        config: Of a run.

    Returns:
        Their names.
    """
    superscripts = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    named = [f"x₁{str(p).translate(superscripts)}" for p in config.powers]
    return (*("x₁" if p == 1 else n for p, n in zip(config.powers, named, strict=True)),
            SIGN, RANDOM)  # fmt: skip


def _draw(config: Universality, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        **_fit_cubic(config, rng),
        "line": np.stack(_line(config, rng)),
        "costs": _costs(config, rng),
    }


def _fit_cubic(config: Universality, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Relative test error of the odd cubic, without and with the constant."""
    n = config.num_train
    x = _sphere(rng, n + config.num_test, 4)
    y = 4 * x[:, 0] ** 3 - 2 * x[:, 0]  # the zonal harmonic of degree 3
    errors, outputs = [], []
    for inputs in (x, np.asarray(theory.with_constant_coordinate(x))):
        K = np.asarray(theory.first_layer_kernel(inputs))
        fitted = predict.ridgeless(K[:n, :n], y[:n])
        made = predict.evaluate(fitted, K[n:, :n])
        left = np.sqrt(np.mean((made - y[n:]) ** 2) / np.mean(y[n:] ** 2))
        kept = np.sqrt(np.mean((fitted.outputs - y[:n]) ** 2) / np.mean(y[:n] ** 2))
        errors.append((float(kept), float(left)))
        outputs.append(made)
    return {
        "errors": np.array(errors),
        "first": x[n:, 0],
        "outputs": np.stack(outputs),
    }


def _line(
    config: Universality, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Singular values of the kernel on the line, without and with the constant."""
    x = rng.normal(size=config.num_line)
    with_bias = np.stack([x, np.ones_like(x)], axis=1)
    plain = np.asarray(theory.one_dimensional_kernel(x))
    biased = np.asarray(theory.both_layers_kernel(with_bias))
    values = (np.linalg.svd(K, compute_uv=False) for K in (plain, biased))
    first, second = (each / each[0] for each in values)
    return first, second


def _costs(config: Universality, rng: np.random.Generator) -> Float[np.ndarray, "s t"]:
    r"""$\sqrt{Y^T H^{-1} Y}$ for each size and target."""
    x = _sphere(rng, max(config.sizes), 4)
    columns = [x[:, 0] ** p for p in config.powers]
    columns += [np.sign(x[:, 0]), rng.choice([-1.0, 1.0], len(x))]
    Y = np.stack(columns, axis=1)
    H = np.asarray(theory.first_layer_kernel(x))
    rows = [
        [theory.label_complexity(H[:n, :n], y) ** 0.5 for y in Y[:n].T]
        for n in config.sizes
    ]
    return np.array(rows)


def _spectrum() -> dict[str, np.ndarray]:
    """Eigenvalues by degree on the sphere of four dimensions."""

    def plain(t: np.ndarray) -> np.ndarray:
        return t * (np.pi - np.arccos(t)) / (2 * np.pi)

    def biased(t: np.ndarray) -> np.ndarray:
        return plain((t + 1) / 2)

    options = {"dim": 4, "num": _DEGREES}
    return {
        "plain": theory.zonal_eigenvalues(plain, **options),
        "biased": theory.zonal_eigenvalues(biased, **options),
    }


def _sphere(rng: np.random.Generator, num: int, dim: int) -> np.ndarray:
    z = rng.normal(size=(num, dim))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def _check(config: Universality) -> None:
    for power in config.powers:
        theory.polynomial_complexity_limit(power)  # refuses what has no limit
    if config.draws < 1 or min(config.num_train, config.num_test) < 2:
        raise ValueError(
            f"draws must be at least 1 ({LEAST_DRAWS} for intervals), num_train and "
            f"num_test at least 2, got {config.draws}, {config.num_train} and "
            f"{config.num_test}."
        )
    sizes = config.sizes
    doubled = all(b == 2 * a for a, b in zip(sizes, sizes[1:], strict=False))
    if len(sizes) < 2 or min(sizes) < 2 or not doubled:
        raise ValueError(
            "sizes must be at least two numbers, each twice the one before, such as "
            f"100 200 400, got {sizes}."
        )
    if config.num_line < 4:
        raise ValueError(
            f"num_line must be at least 4 to tell a rank of 2, got {config.num_line}."
        )
