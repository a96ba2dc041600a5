r"""The kernel does not know the loss. Where training ends does.

A linearized network flows on square loss and on cross-entropy, from the same start with
the same kernel. Square loss converges to the interpolant of least norm. Cross-entropy
on separable data does not converge: its norm grows like $\log t$, with the norm of the
hard-margin classifier as its rate, and its direction turns to that classifier.

Reference: Soudry et al., "The implicit bias of gradient descent on separable data",
JMLR 2018, arXiv:1710.10345.
"""

from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
import optax

from ... import predict
from ..._progress import progress_bar
from ...infinite import Tanh, fc
from ...kernels import gram
from ...store import RunFolder
from ..stages.points import Points, draw_points


@dataclass(frozen=True)
class Losses:
    """Train a linearized network on square loss and on cross-entropy."""

    data: str = "digits"
    """Samples: sphere, or a data set of ten classes (digits, mnist, cifar10, ...),
    halved."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    num_train: int = 40
    """Training samples."""
    num_test: int = 200
    """Test samples."""
    dim: int = 10
    """Dimension of the sphere's space."""
    width: int = 512
    """Hidden units of the network, of tanh."""
    decades: int = 6
    """Cross-entropy is followed for so many decades beyond the time of the fastest
    mode."""
    per_decade: int = 4
    """Times in each decade."""
    seeds: int = 5
    """Initializations; five are needed for a verdict."""
    seed: int = 0
    """Decides samples and initializations."""


def run(config: Losses, folder: RunFolder, *, progress: bool) -> None:
    """Follow both flows and write how they went.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    _check(config)
    points = draw_points(
        config.data,
        config.num_train,
        config.num_test,
        dim=config.dim,
        key=jax.random.key(config.seed),
        directory=config.directory,
    )
    points = points._replace(y=np.sign(points.y), y_test=np.sign(points.y_test))
    keys = jax.random.split(jax.random.key(config.seed + 1), config.seeds)
    with (
        jax.enable_x64(True),
        progress_bar("Seeds", config.seeds, show=progress, unit="seeds") as advance,
    ):
        model = fc(1, config.width, activation=Tanh(), weight_std=1.0).model(
            points.x.shape[1:]
        )
        x = np.concatenate([points.x, points.x_test])
        kernel = jax.jit(lambda key, x: gram(model.apply, model.init(key), x))
        for number, key in enumerate(keys):
            if not folder.has_arrays(f"flows-{number}"):
                K = predict.split_kernel(np.asarray(kernel(key, x)), len(points.x))
                folder.save_arrays(f"flows-{number}", **_follow(config, points, K))
            advance(1)
    for number in range(config.seeds):
        saved = folder.arrays(f"flows-{number}")
        folder.log(
            seed=number, **{name: array[..., -1] for name, array in saved.items()}
        )


def _follow(config: Losses, points: Points, K: predict.Blocks) -> dict[str, np.ndarray]:
    """Both flows from 0, their norms, directions and test accuracies."""
    y = points.y[:, 0]
    modes = predict.decompose(K.train)
    fastest = len(y) / float(modes.eigenvalues[0])
    count = config.decades * config.per_decade + 1
    times = fastest * np.logspace(0, config.decades, count)
    margin = predict.hard_margin(modes, y)
    least = predict.ridgeless(modes, y)
    flows = {
        "square": predict.gradient_flow(modes, y, times),
        "entropy": _entropy_flow(K.train, y, times),
    }
    found: dict[str, np.ndarray] = {"times": times}
    for name, flow in flows.items():
        found[f"{name}_norm"] = np.sqrt(flow.squared_norm)
        for other, end in (("margin", margin), ("least", least)):
            found[f"{name}_to_{other}"] = _cosines(flow, end)
        outputs = predict.evaluate(flow, K.test_train)
        hits = (outputs > 0) == (points.y_test[:, 0] > 0)[None]
        found[f"{name}_accuracy"] = hits.mean(axis=1)
    ends = {"margin": margin, "least": least}
    for name, end in ends.items():
        found[f"{name}_norm"] = np.sqrt(end.squared_norm)[None]
    found["ends_cosine"] = _cosines(margin, least)[None]
    gap = flows["square"].coefficients - least.coefficients[None]
    change = np.einsum("ti,ij,tj->t", gap, np.asarray(K.train), gap)
    found["square_distance"] = np.sqrt(np.maximum(change, 0) / least.squared_norm)
    return found


def _entropy_flow(K, y: np.ndarray, times: np.ndarray) -> predict.Solution:
    """Cross-entropy flattens as it is fitted, so that steps grow with time."""
    return predict.loss_flow(
        K,
        y,
        times,
        lambda outputs, labels: optax.losses.sigmoid_binary_cross_entropy(
            outputs, (labels > 0).astype(outputs.dtype)
        ),
        tolerance=1e-7,
    )


def _cosines(flow: predict.Solution, end: predict.Solution) -> np.ndarray:
    """Cosines between parameters: K beta is what the outputs are, from 0."""
    product = flow.outputs @ end.coefficients
    return np.asarray(product / np.sqrt(flow.squared_norm * end.squared_norm))


def _check(config: Losses) -> None:
    if config.decades < 2 or config.per_decade < 2 or config.seeds < 1:
        raise ValueError(
            "A growth like log t needs two decades of two times at least, and a seed, "
            f"got decades={config.decades}, per_decade={config.per_decade}, "
            f"seeds={config.seeds}."
        )
