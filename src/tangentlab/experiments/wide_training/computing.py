r"""How wide must a network be before it is its kernel?

Networks of each width are trained by full-batch gradient descent on square loss. What
their tangent kernel and their linearization would have done is known in closed form:
regression with the kernel at initialization, and with that of infinite width. Recorded
are how much the kernel changed on the way, and how far the trained network is from both
at test samples; and likewise for networks whose output is multiplied by a small number,
against that number.

References: Lee et al., "Wide neural networks of any depth evolve as linear models under
gradient descent", NeurIPS 2019; Arora et al., "On exact computation with an infinitely
wide neural net", NeurIPS 2019, theorem 3.2.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
import numpy as np

from ... import predict
from ..._checks import check_known
from ..._progress import progress_bar
from ...infinite import Erf, Layer, Relu, Tanh, fc
from ...store import RunFolder
from ..stages.points import Points, draw_points
from .multipliers import multiplied_gaps
from .training import Trained, train_width

Activation = Literal["tanh", "erf", "relu"]
LAYERS: dict[str, Layer] = {"tanh": Tanh(), "erf": Erf(), "relu": Relu()}
"""The activations, by name."""

_STDS = {"relu": 2**0.5}  # keeps the size of signals; others take 1


@dataclass(frozen=True)
class WideTraining:
    """Train networks of growing width beside regression with their kernels."""

    data: str = "sphere"
    """Samples: sphere, or a data set of ten classes (digits, mnist, cifar10, ...),
    halved."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    num_train: int = 20
    """Training samples."""
    num_test: int = 20
    """Test samples."""
    dim: int = 10
    """Dimension of the sphere's space."""
    depth: int = 1
    """Hidden layers."""
    widths: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048, 4096)
    """Units of each hidden layer."""
    activations: tuple[Activation, ...] = ("tanh", "relu")
    """Activations: tanh and erf are smooth, relu is not."""
    num_steps: int = 500
    """Steps of gradient descent, at half the largest stable rate of infinite width."""
    num_looks: int = 10
    """How often the kernel is looked at on the way, evenly spread."""
    multipliers: tuple[float, ...] = (1.0, 0.5, 0.25, 0.125, 0.0625)
    """Factors of the output, against which the distance to the infinite kernel is
    measured as well, with twice the steps at a quarter of the rate, since small
    factors let the kernel grow; may be empty."""
    multiplier_widths: tuple[int, ...] = (128, 512, 2048)
    """Units of each hidden layer there."""
    seeds: int = 10
    """Initializations of each width; five are needed for a verdict."""
    seed: int = 0
    """Decides samples and initializations."""


def run(config: WideTraining, folder: RunFolder, *, progress: bool) -> None:
    """Train all networks and write what they did.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    with jax.enable_x64(True):
        points = _points(config)
        rates = {}
        each = len(config.widths) + len(_multiplied_widths(config))
        total = len(config.activations) * each
        with progress_bar("Widths", total, show=progress, unit="widths") as advance:
            for activation in config.activations:
                rates[activation] = _compute(
                    config, points, activation, folder, advance
                )
    for activation in config.activations:
        for width in config.widths:
            saved = folder.arrays(f"{activation}-{width}")
            folder.log(
                activation=activation,
                width=width,
                rate=rates[activation],
                **{name: values[..., -1] for name, values in saved.items()},
            )


def _compute(config, points: Points, activation: str, folder: RunFolder, advance):
    """All widths of one activation; returns the learning rate."""
    x = np.concatenate([points.x, points.x_test])
    layer = network(config, activation, config.widths[0])
    K = predict.split_kernel(np.asarray(layer.ntk(x), np.float64), len(points.x))
    rate = predict.max_learning_rate(K.train) / 2
    keys = jax.random.split(jax.random.key(config.seed + 1), config.seeds)
    for number, width in enumerate(config.widths):
        name = f"{activation}-{width}"
        if not folder.has_arrays(name):
            own = jax.vmap(jax.random.fold_in, (0, None))(keys, number)
            layer = network(config, activation, width)
            trained = train_width(
                layer, points, own, rate, config.num_steps, config.num_looks
            )
            folder.save_arrays(name, **_compare(trained, points, K, rate, config))
        advance(1)
    slow, steps = rate / 4, 2 * config.num_steps
    fitted = predict.gradient_descent(K.train, points.y, steps, slow)
    regression = predict.evaluate(fitted, K.test_train)
    for width in _multiplied_widths(config):
        name = multiplied_name(activation, width)
        if not folder.has_arrays(name):
            layer = network(config, activation, width)
            options = config.multipliers, keys, slow, steps, regression
            folder.save_arrays(name, **multiplied_gaps(layer, points, *options))
        advance(1)
    return rate


def multiplied_name(activation: str, width: int) -> str:
    """Name of the arrays of networks whose output is multiplied.

    Args:
        activation: Name of the nonlinearity.
        width: Units of each hidden layer.

    Returns:
        Such as `tanh-multiplied-512`.
    """
    return f"{activation}-multiplied-{width}"


def network(config: WideTraining, activation: str, width: int) -> Layer:
    """The network of a width.

    Args:
        config: Its depth.
        activation: Name of the nonlinearity.
        width: Units of each hidden layer.

    Returns:
        The network, finite and infinite.
    """
    std = _STDS.get(activation, 1.0)
    layer = LAYERS[activation]
    return fc(config.depth, width, activation=layer, weight_std=std)


def _compare(
    trained: Trained, points: Points, K: predict.Blocks, rate: float, config
) -> dict[str, np.ndarray]:
    """Distances between network, own linearization and infinite kernel, per seed."""
    n = len(points.x)
    own, infinite = [], []
    for f_0, f_T, K_0 in zip(trained.f_0, trained.f_T, trained.K_0, strict=True):
        for kernel, found in ((predict.split_kernel(K_0, n), own), (K, infinite)):
            fitted = predict.gradient_descent(
                kernel.train, points.y, config.num_steps, rate, f_0=f_0[:n]
            )
            there = predict.evaluate(fitted, kernel.test_train, f_0[n:])
            found.append(_size(there - f_T[n:]))
    norms = np.linalg.norm(trained.K_0, axis=(1, 2))[:, None]
    unit = _size(points.y)
    return {
        "kernel_change": trained.change / norms,
        "own_gap": np.array(own)[:, None] / unit,
        "infinite_gap": np.array(infinite)[:, None] / unit,
        "loss": trained.loss,
        "distance": trained.distance[:, None],
    }


def _size(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _multiplied_widths(config: WideTraining) -> tuple[int, ...]:
    return config.multiplier_widths if config.multipliers else ()


def _points(config: WideTraining) -> Points:
    return draw_points(
        config.data,
        config.num_train,
        config.num_test,
        dim=config.dim,
        key=jax.random.key(config.seed),
        directory=config.directory,
    )


def _check(config: WideTraining) -> None:
    for activation in config.activations:
        check_known("activation", activation, LAYERS)
    if len(set(config.widths)) < 2:
        raise ValueError(
            f"A slope needs two different widths at least, got {config.widths}."
        )
    if min(config.multipliers, default=1.0) <= 0:
        raise ValueError(
            f"multipliers must be numbers above 0, got {config.multipliers}."
        )
    if not 1 <= config.num_looks <= config.num_steps or config.seeds < 1:
        raise ValueError(
            "num_looks must lie in 1..num_steps and seeds be at least 1, got "
            f"{config.num_looks} of {config.num_steps} and {config.seeds}."
        )
