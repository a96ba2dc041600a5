"""What is measured. Each case yields one row of numbers for each thing it did."""

import time
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl
from tangentlab.experiments.__main__ import main as run_experiment
from tangentlab.models import ModelName

from ..compiling import Compiling

_KEY = jax.random.key(0)
_GRID = (0, 1, 2, 4, 9, 19, 49, 99, 199, 499, 999)  # eigenfunctions of the paper
_ROUNDS = 3  # of which medians are taken
_WHOLE = 100  # epochs of the paper
_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
Row = dict[str, Any]


class Options(NamedTuple):
    """What the command line says; None leaves it to the case."""

    data: str
    samples: int | None
    tasks: int | None
    epochs: int | None


class Problem(NamedTuple):
    """A network, where it starts, and tasks for it."""

    data: tl.Dataset
    model: tl.Model
    params: Any
    tasks: list[tl.Task]

    def row(self, what: str, epochs: int, **numbers: float) -> Row:
        """What was measured, and how large it was."""
        facts = {"what": what, "data": self.data.name, "n": len(self.data.x)}
        return {**facts, "tasks": len(self.tasks), "epochs": epochs, **numbers}


def problem(name: ModelName, options: Options, num_tasks: int) -> Problem:
    """Labels by half-spaces of the inputs."""
    data = tl.data.normalize(tl.data.load(options.data))
    if options.samples is not None:
        test = options.samples // 6
        data = tl.data.subset(data, options.samples - test, num_test=test, key=_KEY)
    model = tl.models.build(name, data.shape)
    x = np.asarray(data.x).reshape(len(data.x), -1)
    directions = np.random.default_rng(0).standard_normal((x.shape[1], num_tasks))
    labels = (x @ directions.astype(x.dtype) > 0).T
    tasks = [tl.tasks.from_labels(data, each) for each in labels]
    return Problem(data, model, model.init(_KEY), tasks)


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Time of one call, and what it returned."""
    began = time.perf_counter()
    made = jax.block_until_ready(function())
    return time.perf_counter() - began, made


def timed_training(
    network: Any, made: Problem, epochs: int, **options: Any
) -> tuple[float, float]:
    """Seconds of a whole call, compiling included, and of one epoch of all tasks.

    Epochs are timed from the end of a task's first one to that of its last.
    """
    stamps: dict[int, list[float]] = {}

    def on_epoch(task: int, *others: Any) -> None:
        del others
        stamps.setdefault(task, []).append(time.perf_counter())

    def run() -> Any:
        recipe, settings = tl.Recipe(epochs=epochs), {"key": _KEY, **options}
        history = tl.train(
            network, made.params, made.tasks, recipe, on_epoch=on_epoch, **settings
        )
        return history.outputs

    whole, _ = seconds(run)
    if epochs == 1:
        return whole, whole
    total, last = 0.0, 0.0
    for times in sorted(stamps.values()):
        if times[0] >= last:  # else it trained together with one before
            total, last = total + (times[-1] - times[0]) / (epochs - 1), times[-1]
    return whole, total


def together(name: ModelName) -> Callable[[Options], Iterator[Row]]:
    """All tasks in one program against one after the other, the same code, in turns."""

    def measure(options: Options) -> Iterator[Row]:
        made = problem(name, options, options.tasks or 32)
        epochs = options.epochs or (20 if _on_cpu() else 4)
        rounds = [
            [
                timed_training(made.model, made, epochs, together=t)
                for t in (True, False)
            ]
            for _ in range(_ROUNDS)
        ]
        (whole, side), (long, row) = np.median(rounds, axis=0)
        yield made.row("together", epochs, seconds=whole, epoch=side)
        yield made.row("one by one", epochs, seconds=long, epoch=row, ratio=row / side)

    return measure


def network(name: ModelName, num_tasks: int) -> Callable[[Options], Iterator[Row]]:
    """Networks by the paper's recipe, from the call to the history."""

    def measure(options: Options) -> Iterator[Row]:
        made = problem(name, options, options.tasks or num_tasks)
        epochs, model = options.epochs or _WHOLE, made.model
        if epochs < _WHOLE:  # to be extrapolated
            whole, each = timed_training(model, made, epochs)
            yield made.row(name, epochs, seconds=whole, epoch=each)
            return
        recipe, params = tl.Recipe(epochs=epochs), made.params
        compiled = Compiling()
        whole, _ = seconds(
            lambda: tl.train(model, params, made.tasks, recipe, key=_KEY).outputs
        )
        yield made.row(name, epochs, seconds=whole, compiling=compiled.seconds)

    return measure


def _gram(made: Problem) -> tuple[float, jax.Array]:
    """The Gram matrix, once it is compiled."""
    big = made.model.name.lower().startswith("resnet") and not _on_cpu()
    precision = "high" if big else "float32"

    def run() -> jax.Array:
        x = made.data.x
        return tl.gram(made.model.apply, made.params, x, precision=precision)

    seconds(run)
    return seconds(run)


def _initial_outputs(made: Problem) -> jax.Array:
    apply, x = jax.jit(made.model.apply), made.data.x
    parts = [apply(made.params, x[i : i + 1000]) for i in range(0, len(x), 1000)]
    return jnp.concatenate(parts)


def _dual(made: Problem, K: jax.Array, epochs: int) -> dict[str, float]:
    """Both of two calls; the second finds everything compiled."""
    f_0 = _initial_outputs(made)

    def run() -> Any:
        recipe = tl.Recipe(epochs=epochs)
        return tl.train_dual(K, f_0, made.tasks, recipe, key=_KEY).outputs

    first, _ = seconds(run)
    return {"first": first, "seconds": seconds(run)[0]}


def dual(name: ModelName) -> Callable[[Options], Iterator[Row]]:
    """Linearized networks in function space, the Gram matrix apart."""

    def measure(options: Options) -> Iterator[Row]:
        made = problem(name, options, options.tasks or 100)
        gram, K = _gram(made)
        epochs = options.epochs or 100
        yield made.row(name, epochs, **_dual(made, K, epochs), gram=gram)

    return measure


def spaces(options: Options) -> Iterator[Row]:
    """Linearized LeNets: the Gram matrix and its trainer against weight space."""
    made = problem("lenet", options, options.tasks or 32)
    epochs, few = options.epochs or 100, 3
    gram, K = _gram(made)
    found = _dual(made, K, epochs)
    yield made.row("function space", epochs, **found, gram=gram)
    linear = tl.linearize(made.model.apply, made.params)
    whole, each = timed_training(linear, made, few)
    ratio = epochs * each / (found["seconds"] + gram)
    numbers = {"seconds": epochs * each, "epoch": each, "ratio": ratio}
    yield made.row("weight space", epochs, **numbers, measured_epochs=few)


def growth(options: Options) -> Iterator[Row]:
    """Cost of a network's task against the number of tasks."""
    networks: tuple[tuple[ModelName, int], ...] = (("mlp", 256), ("lenet", 32))
    for name, most in networks:
        for num in (c for c in _COUNTS if c <= min(most, options.tasks or most)):
            made = problem(name, options, num)
            epochs = options.epochs or (6 if _on_cpu() else 4)
            whole, each = timed_training(made.model, made, epochs, together=True)
            yield made.row(f"{name} network", epochs, seconds=whole, epoch=each)


def growth_linear(options: Options) -> Iterator[Row]:
    """Cost of a linearized LeNet's task against the number of tasks."""
    largest = options.tasks or max(_COUNTS)
    made = problem("lenet", options, largest)
    _, K = _gram(made)
    for num in (c for c in _COUNTS if c <= largest):
        some, epochs = made._replace(tasks=made.tasks[:num]), options.epochs or 20
        found = _dual(some, K, epochs)
        row = {**found, "epoch": found["seconds"] / epochs}
        yield some.row("linearized, function space", epochs, **row)


def experiment(options: Options) -> Iterator[Row]:
    """E1 and E2 of a LeNet by one command, from the images to figures and report."""
    data, epochs = tl.data.load(options.data), options.epochs or 100
    n = options.samples or len(data.x)
    indices = [i for i in _GRID if 2 * i < n]
    words = [f"data={options.data}", "model=lenet", f"recipe.epochs={epochs}"]
    words += [f"num_samples={n}"] if options.samples else []
    with TemporaryDirectory() as folder:
        words += [f"indices={indices}", "reference_epochs=0", f"output={folder}"]
        whole, _ = seconds(lambda: run_experiment(["eigenfunctions", *words]))
    size = {"data": data.name, "n": n, "tasks": len(indices), "epochs": epochs}
    yield {"what": "whole", **size, "seconds": whole}


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"


CASES: dict[str, Callable[[Options], Iterator[Row]]] = {
    "together-mlp": together("mlp"),
    "together-lenet": together("lenet"),
    "spaces": spaces,
    "dual-mlp": dual("mlp"),
    "dual-lenet": dual("lenet"),
    "dual-resnet18": dual("resnet18"),
    "network-mlp": network("mlp", 32),
    "network-lenet": network("lenet", 32),
    "network-resnet18": network("resnet18", 1),
    "experiment": experiment,
    "growth": growth,
    "growth-linear": growth_linear,
}
