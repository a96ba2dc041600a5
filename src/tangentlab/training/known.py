"""What was compiled of a network is kept for the next training of the same one."""

from collections.abc import Callable
from functools import lru_cache, partial

import jax
import optax
from jaxtyping import Array

from .._hashing import calls_python, hash_parts, hash_traced
from .._types import Inputs, Params
from ..models import Model
from ..tasks import Task
from .program import Program, make_program
from .recipe import Recipe
from .row_products import for_many, for_one
from .trainer import Trainer, make_trainer


def always(model: Model) -> Callable[[Params], Model]:
    """A network that does not depend on where training starts.

    Args:
        model: The network.

    Returns:
        A function of the parameters at the start.
    """
    return lambda start: model


def compile_network(
    model: Model, recipe: Recipe, rule: optax.GradientTransformation, together: bool
) -> tuple[Trainer, Program]:
    """How one network learns one task, and what is compiled of it.

    Args:
        model: The network.
        recipe: How it is trained.
        rule: Its optimizer.
        together: Several tasks at once.

    Returns:
        The trainer, and its program.
    """
    prepare = partial(for_many, same_images=True) if together else for_one
    trainer = make_trainer(prepare(always(model)), recipe, rule)
    return trainer, make_program(trainer, tasks=together)


def known(
    model: Model, params: Params, task: Task, recipe: Recipe, together: bool
) -> tuple[Trainer, Program]:
    """The same for a network that was trained before, or will be again.

    Args:
        model: The network; one that has a hash.
        params: Its parameters.
        task: One of those that it learns.
        recipe: How, with the recipe's own optimizer.
        together: Several tasks at once.

    Returns:
        The trainer, and its program.
    """
    computed = _computed(model, params, task, recipe)
    if computed is None:
        rule = recipe.make_optimizer(task.num_train)
        return compile_network(model, recipe, rule, together)
    return _kept(model, recipe, task.num_train, together, computed)


@lru_cache(maxsize=4)  # several seeds of a network take turns with long recipes
def _kept(
    model: Model, recipe: Recipe, num_train: int, together: bool, computed: str
) -> tuple[Trainer, Program]:
    """Rates are scheduled for a number of samples; a model may read what changes."""
    del computed
    return compile_network(model, recipe, recipe.make_optimizer(num_train), together)


def _computed(model: Model, params: Params, task: Task, recipe: Recipe) -> str | None:
    """A hash of the network in training and tests; None where it calls Python."""

    def total(params: Params, x: Inputs) -> Array:
        outputs, _ = model.apply_train(params, model.init_state(), x)
        return outputs.sum()

    def tested(params: Params, x: Inputs) -> Array:
        return model.freeze(model.init_state())(params, x)

    x = task.x[: min(recipe.batch_size, task.num_train)]
    functions = jax.grad(total, allow_int=True), tested
    traced = [jax.make_jaxpr(function)(params, x) for function in functions]
    if any(map(calls_python, traced)):
        return None
    return hash_parts(*map(hash_traced, traced))
