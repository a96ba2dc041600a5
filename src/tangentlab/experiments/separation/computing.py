r"""Sparse parity: samples needed by a network and by its kernel, against dimension.

The label is the product of the first $k$ of $d$ signs. A kernel that treats all
coordinates alike learns all $\binom dk$ such products equally, and none of them better
than $n / \binom dk$ (`tl.theory.learnability_ceiling`); a network may find out which
coordinates matter.

Reference:
    The separations that the UBC and the CentraleSupelec lecture point to; Simon et al.,
    "The eigenlearning framework", TMLR 2023, for the kernel's side.
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ... import infinite, models, predict, theory
from ..._progress import progress_bar
from ...store import RunFolder
from ...tasks import Task
from ...training import Recipe, train_seeds


@dataclasses.dataclass(frozen=True)
class Separation:
    """Count the samples that a network and its kernel need for a sparse parity."""

    dims: tuple[int, ...] = (16, 28, 48)
    """Dimensions of the inputs."""
    degree: int = 2
    """How many coordinates the label is the product of."""
    samples_per_dim: tuple[float, ...] = (4.0, 7.0, 11.0, 16.0, 26.0)
    """Numbers of training samples, in units of the dimension."""
    num_test: int = 500
    """Test samples."""
    width: int = 256
    """Hidden units of the network."""
    recipe: Recipe = Recipe(epochs=60, batch_size=32, schedule="constant")
    """How it is trained."""
    level: float = 0.9
    """Test accuracy that counts as learned."""
    seeds: int = 3
    """Draws of samples, for both, and initializations that learn each of them."""
    seed: int = 0
    """The first of them."""


def run(config: Separation, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; dimensions that are there are not computed again.
        progress: Show a progress bar.
    """
    _check(config)
    total = len(config.dims) * len(config.samples_per_dim)
    with progress_bar("Parities", total, show=progress) as advance:
        for dim in config.dims:
            if not folder.has_arrays(f"dim-{dim}"):
                sizes = [round(each * dim) for each in config.samples_per_dim]
                found = []
                for n in sizes:
                    found.append(_learn(config, dim, n))
                    advance(1)
                accuracies = np.stack(found, axis=1)
                folder.save_arrays(f"dim-{dim}", sizes=sizes, accuracies=accuracies)
    for dim in config.dims:
        saved = folder.arrays(f"dim-{dim}")
        accuracies = saved["accuracies"].mean(axis=0)
        folder.log(
            dim=dim,
            sizes=saved["sizes"],
            network=accuracies[:, 0],
            kernel=accuracies[:, 1],
            ceiling=[
                theory.learnability_ceiling(int(n), math.comb(dim, config.degree))
                for n in saved["sizes"]
            ],
        )


def _learn(config: Separation, dim: int, n: int) -> Float[np.ndarray, "s 2"]:
    """Test accuracy of the network, a mean over initializations, and of its kernel."""
    numbers = range(config.seed, config.seed + config.seeds)
    draws = [_signs(n + config.num_test, dim, number) for number in numbers]
    labels = [x[:, : config.degree].prod(axis=1) for x in draws]
    tasks = [
        Task(x, (y > 0).astype(np.float32), num_train=n, name=f"parity, d = {dim}")
        for x, y in zip(draws, labels, strict=True)
    ]
    model = models.mlp((dim,), widths=(config.width,))
    keys = jnp.stack([jax.random.key(number) for number in numbers])
    batch = min(config.recipe.batch_size, n)
    recipe = dataclasses.replace(config.recipe, batch_size=batch)
    params = jax.vmap(model.init)(keys)
    histories = train_seeds(model, params, tasks, recipe, keys=keys)
    ends = [np.asarray(history.test_accuracy)[:, -1] for history in histories]
    network = np.mean(ends, axis=0)
    kernel = [_regress(x, y, n) for x, y in zip(draws, labels, strict=True)]
    return np.array([network, kernel]).T


def _regress(
    x: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"], num_train: int
) -> float:
    """Test accuracy of regression with the kernel at infinite width."""
    network = infinite.fc(1, bias_std=1.0)
    K = np.asarray(network.ntk(x, precision="float64"), np.float64)
    y = y.astype(np.float64)
    fitted = predict.ridgeless(K[:num_train, :num_train], y[:num_train])
    outputs = predict.evaluate(fitted, K[num_train:, :num_train])
    return float(np.mean(outputs * y[num_train:] > 0))


def _signs(num: int, dim: int, seed: int) -> Float[np.ndarray, "n d"]:
    """Distinct vectors of random signs, so that no test sample was trained on."""
    rng = np.random.default_rng([seed, dim, num])
    drawn = np.unique(rng.choice([-1.0, 1.0], (2 * num, dim)), axis=0)
    rng.shuffle(drawn)
    return drawn[:num].astype(np.float32)


def _check(config: Separation) -> None:
    if not config.dims or min(config.dims) < 12 or config.degree < 1:
        raise ValueError(
            "dims must be at least 12, where there are enough distinct inputs, and "
            f"degree at least 1, got {config.dims} and {config.degree}."
        )
    ordered = sorted(set(config.samples_per_dim))
    if len(ordered) < 2 or list(config.samples_per_dim) != ordered or ordered[0] <= 0:
        raise ValueError(
            "samples_per_dim must hold at least two rising numbers above 0, got "
            f"{config.samples_per_dim}."
        )
    if not 0.5 < config.level < 1 or config.seeds < 1:
        raise ValueError(
            f"level must lie between 0.5 and 1 and seeds be at least 1, got "
            f"{config.level} and {config.seeds}."
        )
