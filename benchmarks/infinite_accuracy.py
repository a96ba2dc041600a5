"""`python -m benchmarks.infinite_accuracy`: classify CIFAR-10 with wide networks.

Kernel regression on the first images of the training set, ten targets, with the ridge
that leave-one-out error on these images chooses; the test set decides nothing.

    python -m benchmarks.infinite_accuracy                     # FC: minutes on 2 cores
    python -m benchmarks.infinite_accuracy --networks myrtle5  # hours on a GPU
    python -m benchmarks.infinite_accuracy --networks myrtle5 --sizes 160 --num-test 200
    python -m benchmarks.infinite_accuracy --only-table

It needs the real CIFAR-10 (`$TANGENTLAB_DATA`). Kernels go to tiles under `--store`: a
run that was stopped is started again and goes on. Accuracies are kept in
`results/infinite_accuracy.json` and shown in a section of `docs/benchmarks.md`.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import tangentlab as tl
from benchmarks.infinite_page import ACCURACIES, PAGE, keep, write_accuracies
from tangentlab import infinite

_RIDGES = tuple(10.0 ** np.arange(-8, 0.5, 0.5))  # of the mean of the diagonal
_ALL = (1000, 5000, 10_000)
_USUAL = {  # training images, and test images
    "cpu": {"fc": (_ALL, 10_000), "myrtle5": ((160,), 200), "myrtle10": ((80,), 100)},
    "gpu": {"fc": (_ALL, 10_000), "myrtle5": (_ALL, 2000), "myrtle10": (_ALL, 2000)},
}
# Depth, variance of weights and of biases that Lee et al. (2018) chose on a validation
# set for so many images, or the next larger number of them.
_PUBLISHED_FC = {1000: (7, 1.28, 0.0), 10_000: (5, 2.97, 0.28), 45_000: (3, 3.31, 1.86)}


class Kernel(NamedTuple):
    """A kernel whose leading blocks serve several sizes.

    Attributes:
        name: Name of the network.
        kind: `"nngp"` or `"ntk"`.
        layer: The network.
        sizes: Numbers of training images.
        num_test: Number of test images.
    """

    name: str
    kind: str
    layer: infinite.Layer
    sizes: tuple[int, ...]
    num_test: int


def main() -> None:
    """Measure what the command line asks for, keep it and renew the page."""
    options = _options()
    if not options.only_table:
        data = tl.data.normalize(tl.data.load("cifar10"))
        for kernel in _kernels(options):
            lines = list(_measure(kernel, data, options))
            keep(lines, options.results, ("device", "network", "kind", "n"))
    write_accuracies(options.results, options.page)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="+", choices=_USUAL["cpu"], default=["fc"])
    parser.add_argument("--kinds", nargs="+", choices=("nngp", "ntk"))
    parser.add_argument("--sizes", nargs="+", type=int, help="training images")
    parser.add_argument("--num-test", type=int, help="test images, from the first on")
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/infinite"))
    parser.add_argument("--only-table", action="store_true")
    parser.add_argument("--results", type=Path, default=ACCURACIES)
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser.parse_args()


def _kernels(options: argparse.Namespace) -> Iterator[Kernel]:
    """Every kernel, with all sizes that are blocks of the same one."""
    where = "cpu" if jax.default_backend() == "cpu" else "gpu"
    for name in options.networks:
        usual, num_test = _USUAL[where][name]
        layers = {n: _network(name, n) for n in sorted(options.sizes or usual)}
        for kind in options.kinds or (("nngp", "ntk") if name == "fc" else ("ntk",)):
            for layer in dict.fromkeys(layers.values()):
                sizes = tuple(n for n, each in layers.items() if each == layer)
                yield Kernel(name, kind, layer, sizes, options.num_test or num_test)


def _network(name: str, n: int) -> infinite.Layer:
    if name != "fc":
        return infinite.myrtle({"myrtle5": 5, "myrtle10": 10}[name])
    fitting = [size for size in sorted(_PUBLISHED_FC) if size >= n]
    depth, weights, biases = _PUBLISHED_FC[fitting[0] if fitting else 45_000]
    stds = math.sqrt(weights), math.sqrt(biases)
    hidden = [infinite.Dense(512, *stds), infinite.Relu()] * depth
    return infinite.serial(infinite.Flatten(), *hidden, infinite.Dense(1, *stds))


def _measure(
    kernel: Kernel, data: tl.data.Dataset, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    largest, num_test = max(kernel.sizes), kernel.num_test
    x, x_test = (np.asarray(data.x[i:]) for i in (0, data.num_train))
    y = np.eye(len(data.names))[np.asarray(data.y)] - 1 / len(data.names)
    start = time.perf_counter()
    folder = options.store / f"{kernel.name}-{kernel.kind}-{largest}"
    compute = getattr(kernel.layer, kernel.kind)
    # Inner products of images in float64 cost little, those of their pixels much.
    precision = "float64" if kernel.name == "fc" else "float32"
    common = {"precision": precision, "progress": True}
    K = compute(x[:largest], store=folder / "train", **common)
    tested = x_test[:num_test], x[:largest]
    K_test = compute(*tested, store=folder / f"test-{num_test}", **common)
    seconds = time.perf_counter() - start
    y_test = y[data.num_train : data.num_train + num_test]
    for n in kernel.sizes:
        found = _regression(K[:n, :n], y[:n], K_test[:, :n], y_test)
        line = {
            "device": _device(),
            "network": kernel.name,
            "kind": kernel.kind,
            "n": n,
            "num_test": num_test,
            **found,
            "kernel_seconds": seconds,
            "kernel_size": largest,
            "precision": precision,
            "jax": jax.__version__,
            "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        }
        print(json.dumps(line), flush=True)
        yield line


def _regression(
    K: np.ndarray, y: np.ndarray, K_test: np.ndarray, y_test: np.ndarray
) -> dict[str, float]:
    """Accuracy at the ridge that leave-one-out error chooses."""
    start = time.perf_counter()
    spectrum = tl.predict.decompose(np.asarray(K, np.float64))
    unit = float(np.diag(K).mean())
    errors = _leave_one_out(spectrum, y, unit * np.array(_RIDGES))
    ridge = float(_RIDGES[int(np.argmin(errors))])
    solution = tl.predict.ridge(spectrum, y, unit * ridge)
    predicted = tl.predict.evaluate(solution, np.asarray(K_test, np.float64))
    right = predicted.argmax(axis=1) == y_test.argmax(axis=1)
    return {
        "accuracy": float(right.mean()),
        "ridge": ridge,
        "leave_one_out": float(min(errors)),
        "solve_seconds": time.perf_counter() - start,
    }


def _leave_one_out(
    spectrum: tl.Spectrum, y: np.ndarray, ridges: np.ndarray
) -> np.ndarray:
    r"""Mean squared error at samples that are left out one by one, for each ridge.

    With $A = (K + \rho I)^{-1}$ the residual of sample $i$ is $(A y)_i / A_{ii}$.
    """
    V, rates = np.asarray(spectrum.eigenvectors), np.asarray(spectrum.eigenvalues)
    inverses = 1 / (np.maximum(rates, 0)[:, None] + ridges[None])
    diagonals, inside = (V * V) @ inverses, V.T @ y
    errors = []
    for inverse, diagonal in zip(inverses.T, diagonals.T, strict=True):
        residuals = V @ (inverse[:, None] * inside) / diagonal[:, None]
        errors.append((residuals**2).mean())
    return np.array(errors)


def _device() -> str:
    device = jax.devices()[0]
    return "CPU" if device.platform == "cpu" else device.device_kind


if __name__ == "__main__":
    main()
