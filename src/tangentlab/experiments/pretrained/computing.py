r"""A network, its linearization, and the linear model of its trained kernel.

Three models learn the same eigenfunction from the same batches: the network; the linear
model whose features are the network's gradients at initialization, with kernel
$\Theta_0$; and the one with its gradients after it has learned this very task,
$\Theta_T$. Both linear models are centered unless the config says otherwise: they start
from output 0, whatever the network answers where they were expanded.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Section 4.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data import Dataset
from ...models import linearize
from ...store import RunFolder
from ...tasks import Task
from ...training import History, train, train_dual
from ..stages.kernel import (
    compute_gram,
    keeps_gram,
    labeled_by,
    make_tasks,
    saved_tasks,
)
from ..stages.modes import ModeTasks, mode_indices, precision_after
from ..stages.opening import open_samples, open_seeds
from ..stages.seeds import Seed
from ..stages.trained import (
    Statistics,
    Trained,
    train_networks,
    trained_gram,
    with_state,
)
from ..stages.training import (
    Job,
    Space,
    is_dual,
    outputs,
    save_history,
    training_options,
)

INITIAL = "initial"
_MARGIN = 8  # pairs beyond the last one needed, which converges slowly


@dataclass(frozen=True)
class Pretrained(ModeTasks):
    """Compare a network with linear models of its kernel before and after training."""

    target_loss: float = 0.01
    """Training loss to which steps are counted, as in the paper's figures. Runs that
    never reach it count as the last step, which brings ratios closer to 1."""
    linearized_in: Space = "auto"
    """Train the linear models in function space, from their Gram matrices, or in the
    space of weights; by default the former, and the latter for adam."""
    centered: bool = True
    """Start both linear models at output zero, as the paper's code does in this
    comparison alone; else at the outputs of the network they expand."""
    statistics: Statistics = "initial"
    """Batch statistics of the kernel after training: initial, mean 0 and variance 1 as
    in the paper's code so as to give no unfair advantage, or running, those of the end
    of training."""


class _Plan(NamedTuple):
    """What is done for each seed."""

    indices: tuple[int, ...]
    num_pairs: int
    dual: bool


def run(
    config: Pretrained, folder: RunFolder, *, progress: bool, cluster: Any = None
) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
        cluster: Whose workers compute Gram matrices.
    """
    dataset = open_samples(config).dataset
    plan = _plan(config, dataset)
    numbers = []
    opened = open_seeds(config, dataset, folder, progress=progress, cluster=cluster)
    for seed in opened:
        _compute(config, plan, seed)
        numbers.append(seed.number)
    folder.log(
        data=dataset.name,
        model=config.model,
        num_train=dataset.num_train,
        num_test=dataset.num_test,
        seeds=numbers,
        steps_per_epoch=config.recipe.steps_per_epoch(dataset.num_train),
        target_loss=config.target_loss,
    )


def results(index: int) -> str:
    """Name of the results of the linear model of a task's trained kernel.

    Args:
        index: Of its eigenfunction.

    Returns:
        The name.
    """
    return f"pretrained-{index}"


def _compute(config: Pretrained, plan: _Plan, seed: Seed) -> None:
    if not seed.has(INITIAL):
        _compute_initial(config, plan, seed)
    if all(seed.has(results(index)) for index in plan.indices):
        return
    tasks = saved_tasks(seed)
    job = Job("", tasks, config.recipe)
    ends = train_networks(seed, job, config.statistics, mixed=config.mixed_precision)
    for task, end in zip(tasks, ends, strict=True):
        assert task.index is not None
        if not seed.has(results(task.index)):
            _compute_pretrained(config, plan, seed, task, end)


def _compute_initial(config: Pretrained, plan: _Plan, seed: Seed) -> None:
    """The kernel at initialization, tasks, and the linear model with that kernel."""
    source = labeled_by(seed, config.model, config.label_activation)
    K = compute_gram(source, config.precision, on_disk=config.gram_on_disk)
    if not seed.has("tasks"):
        make_tasks(source, K, plan.indices, plan.num_pairs, config.precision)
    if source is not seed and plan.dual:
        K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk)
    start = Trained(seed.model, seed.params, seed.model.init_state())
    if not plan.dual:
        K = None
    _learn(config, seed, INITIAL, saved_tasks(seed), start, K)


def _compute_pretrained(
    config: Pretrained, plan: _Plan, seed: Seed, task: Task, end: Trained
) -> None:
    """The linear model with the kernel of the network that has learned the task."""
    assert task.index is not None
    name = results(task.index)
    if not plan.dual:
        _learn(config, seed, name, [task], end, None)
        return
    choices = (precision_after(config), config.gram_on_disk)
    with trained_gram(seed, end, f"gram-{task.index}", *choices) as K:
        _learn(config, seed, name, [task], end, K)


def _learn(
    config: Pretrained,
    seed: Seed,
    name: str,
    tasks: list[Task],
    origin: Trained,
    K: Any | None,
) -> None:
    """Train a linear model in function space, or in that of weights."""
    start, unstable = time.perf_counter(), False
    options = training_options(seed, name, f"Linear model, {name}")
    if K is None:
        history = _in_weights(config, origin, tasks, options)
    else:
        if not keeps_gram(config.gram_on_disk, seed.cluster):
            del options["checkpoint"]  # of use to the very same matrix alone
        f_0 = _start(config, seed, origin)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            history = train_dual(K, f_0, tasks, config.recipe, **options)
        unstable = _is_unstable(caught)
    marks = np.full(len(tasks), unstable)
    seconds = time.perf_counter() - start
    save_history(seed, name, history, seconds, unstable=marks)


def _is_unstable(caught: list[warnings.WarningMessage]) -> bool:
    """Whether the rate was beyond what the model bears; told in the report instead."""
    unstable = [each for each in caught if "likely to diverge" in str(each.message)]
    for other in caught:
        if other not in unstable:
            warnings.warn_explicit(
                other.message, other.category, other.filename, other.lineno
            )
    return bool(unstable)


def _start(config: Pretrained, seed: Seed, origin: Trained) -> np.ndarray:
    """What a linear model answers before it is trained."""
    x = seed.dataset.x
    if config.centered:
        return np.zeros(len(x), np.float32)
    return outputs(with_state(origin.model), origin.parts, x)


def _in_weights(
    config: Pretrained, origin: Trained, tasks: list[Task], options: dict[str, Any]
) -> History:
    linear = linearize(origin.apply, origin.params, centered=config.centered)
    return train(linear, origin.params, tasks, config.recipe, **options)


def _plan(config: Pretrained, dataset: Dataset) -> _Plan:
    """Refuse what cannot be done before the long work."""
    n = len(dataset.x)
    config.recipe.steps_per_epoch(dataset.num_train)
    if not config.target_loss > 0:
        raise ValueError(f"target_loss must be above 0, got {config.target_loss}.")
    indices = mode_indices(config, n)
    dual = is_dual(config.linearized_in, config.recipe)
    return _Plan(indices, min(n, max(indices) + 1 + _MARGIN), dual)
