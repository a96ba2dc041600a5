"""Training, measured: tasks together, and function space beside weight space.

`python -m benchmarks.training` prints a table and, as its last line, JSON. Runs on
whatever device JAX finds. Each case trains for one epoch, compilation included, and
then for more; the difference is the cost of an epoch. Choose `--epochs` so that it is
seconds.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import tangentlab as tl
from tangentlab.models import ModelName

_KEY = jax.random.key(0)
_QUICK = 25  # times as many epochs in function space, to be measurable


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cases", nargs="+", choices=sorted(CASES), default=list(CASES)
    )
    parser.add_argument("--tasks", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--data", default="digits")
    parser.add_argument("--samples", type=int, default=None)
    options = parser.parse_args()
    device = jax.devices()[0]
    print(
        f"{device.platform} {device.device_kind}, {options.tasks} tasks",
        file=sys.stderr,
    )
    rows = [row for case in options.cases for row in CASES[case](options)]
    for row in rows:
        cells = [f"{row['case']:<28}", f"{row['tasks']:>6} tasks"]
        cells += [f"{k} {v:.4g}" for k, v in row.items() if k not in ("case", "tasks")]
        print("  ".join(cells))
    facts = {"device": device.device_kind, "jax": jax.__version__, **vars(options)}
    print(json.dumps({**facts, "rows": rows}))


def dataset(options: argparse.Namespace) -> tl.Dataset:
    """The data, normalized."""
    whole = tl.data.normalize(tl.data.load(options.data))
    if options.samples is None:
        return whole
    test = options.samples // 6
    return tl.data.subset(whole, options.samples - test, num_test=test, key=_KEY)


def some_tasks(data: tl.Dataset, num: int) -> list[tl.Task]:
    """Half-spaces of the inputs."""
    x = np.asarray(data.x).reshape(len(data.x), -1)
    directions = np.random.default_rng(0).standard_normal((x.shape[1], num))
    return [tl.tasks.from_labels(data, row > 0) for row in (x @ directions).T]


def seconds(function: Callable[[], Any]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    jax.block_until_ready(function())
    return time.perf_counter() - start


def measure(
    case: str, num: int, epochs: int, run: Callable[[tl.Recipe], Any]
) -> dict[str, Any]:
    """Seconds of a first epoch with compilation, and of each epoch after it."""
    first, *later = (seconds(lambda: run(tl.Recipe(epochs=1))) for _ in range(3))
    long = seconds(lambda: run(tl.Recipe(epochs=1 + epochs)))
    each = (long - min(later)) / epochs
    row = {"case": case, "tasks": num, "first": first, "epoch": each}
    return {**row, "per_task_ms": 1000 * each / num}


def together_or_alone(
    name: ModelName,
) -> Callable[[argparse.Namespace], list[dict[str, Any]]]:
    """All tasks in one program against one after the other, the same code."""

    def cases(options: argparse.Namespace) -> list[dict[str, Any]]:
        data = dataset(options)
        model = tl.models.build(name, data.shape)
        params = model.init(_KEY)
        made = some_tasks(data, options.tasks)
        rows = []
        for together in (True, False):

            def run(recipe: tl.Recipe, together: bool = together) -> Any:
                options = {"key": _KEY, "together": together}
                return tl.train(model, params, made, recipe, **options).test_loss

            title = f"{name}, {'together' if together else 'one by one'}"
            rows.append(measure(title, options.tasks, options.epochs, run))
        rows[0]["ratio"] = rows[1]["epoch"] / rows[0]["epoch"]
        return rows

    return cases


def function_space(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Linearized LeNets: the Gram matrix and its trainer against weight space."""
    data = dataset(options)
    model = tl.models.lenet(data.shape)
    params = model.init(_KEY)
    made = some_tasks(data, options.tasks)
    f_0 = jax.jit(model.apply)(params, data.x)
    tl.gram(model.apply, params, data.x)
    began = time.perf_counter()
    K = jax.block_until_ready(tl.gram(model.apply, params, data.x))
    gram = time.perf_counter() - began
    linear = tl.linearize(model.apply, params)

    def functions(recipe: tl.Recipe) -> Any:
        return tl.train_dual(K, f_0, made, recipe, key=_KEY).test_loss

    def weights(recipe: tl.Recipe) -> Any:
        return tl.train(linear, params, made, recipe, key=_KEY).test_loss

    num, many = options.tasks, _QUICK * options.epochs
    dual = measure("lenet linearized, dual", num, many, functions)
    primal = measure("lenet linearized, JVP", num, options.epochs, weights)
    dual["gram"] = gram
    dual["ratio_100_epochs_with_gram"] = (
        primal["epoch"] * 100 / (dual["epoch"] * 100 + gram)
    )
    return [dual, primal]


def growth(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Cost of a task against the number of tasks."""
    data = dataset(options)
    model = tl.models.mlp(data.shape)
    params = model.init(_KEY)
    K = tl.gram(model.apply, params, data.x)
    f_0 = model.apply(params, data.x)
    rows, many = [], _QUICK * options.epochs
    for num in (1, 4, 16, 64, 256):
        made = some_tasks(data, num)

        def weights(recipe: tl.Recipe, made: list[tl.Task] = made) -> Any:
            options = {"key": _KEY, "together": True}
            return tl.train(model, params, made, recipe, **options).test_loss

        def functions(recipe: tl.Recipe, made: list[tl.Task] = made) -> Any:
            return tl.train_dual(K, f_0, made, recipe, key=_KEY).test_loss

        if num <= 64:
            rows.append(measure("mlp, together", num, options.epochs, weights))
        rows.append(measure("mlp linearized, dual", num, many, functions))
    return rows


CASES = {
    "mlp": together_or_alone("mlp"),
    "lenet": together_or_alone("lenet"),
    "dual": function_space,
    "growth": growth,
}

if __name__ == "__main__":
    main()
