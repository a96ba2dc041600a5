"""`python -m benchmarks.predict`: times kernel regression by conjugate gradients.

Ten classes of real images (`TANGENTLAB_DATA`), and the kernel of an untrained network
as an array, on disk, or never formed. Prints a line of JSON with seconds, iterations,
residuals and test accuracy.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import tangentlab as tl

_WAYS = ("array", "disk", "products")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="training images")
    parser.add_argument("--num-test", type=int, default=2_000)
    parser.add_argument("--data", default="mnist", help="mnist, cifar10, digits")
    parser.add_argument("--model", choices=("mlp", "lenet"), default="mlp")
    parser.add_argument("--way", choices=_WAYS, default="array")
    parser.add_argument(
        "--ridge", type=float, default=1e-3, help="of the mean diagonal"
    )
    parser.add_argument("--rank", type=int, help="of the preconditioner")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(_measure(options, Path(folder))))


def _measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    data = tl.data.normalize(tl.data.load(options.data))
    data = tl.data.subset(
        data, options.n, num_test=options.num_test, key=jax.random.key(0)
    )
    network = {"mlp": tl.models.mlp, "lenet": tl.models.lenet}[options.model]
    model = network(data.shape)
    params = model.init(jax.random.key(42))
    x, x_test = data.x[: options.n], data.x[options.n :]
    y = np.eye(10)[np.asarray(data.y)] - 0.1
    start = time.perf_counter()
    K, mean_diagonal = _kernel(options.way, model.apply, params, x, folder)
    kernel_seconds = time.perf_counter() - start
    ridge = options.ridge * mean_diagonal
    start = time.perf_counter()
    found = tl.predict.conjugate_gradients(
        K,
        y[: options.n],
        ridge=ridge,
        rank=options.rank,
        tolerance=options.tolerance,
        progress=True,
    )
    solve_seconds = time.perf_counter() - start
    predicted = tl.predict.evaluate(
        found, lambda V: tl.kernel_product(model.apply, params, x_test, x, V)
    )
    right = predicted.argmax(axis=1) == y[options.n :].argmax(axis=1)
    assert found.residuals is not None
    return vars(options) | {
        "kernel_seconds": kernel_seconds,
        "solve_seconds": solve_seconds,
        "iterations": found.num_iterations,
        "worst_residual": float(found.residuals.max()),
        "test_accuracy": float(right.mean()),
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }


def _kernel(
    way: str, apply: Callable, params: Any, x: Any, folder: Path
) -> tuple[Any, float]:
    """The kernel of the training images, and the mean of its diagonal."""
    if way == "products":
        diagonal = np.asarray(tl.gram_diagonal(apply, params, x))
        return lambda V: tl.kernel_product(apply, params, x, None, V), diagonal.mean()
    store = folder / "K" if way == "disk" else None
    K = tl.gram(apply, params, x, store=store, progress=True)
    return K, float(np.asarray(K.diagonal(), np.float64).mean())


if __name__ == "__main__":
    main()
