"""Options of experiments that train a network on eigenfunctions of its own kernel."""

from dataclasses import dataclass

from ...kernels.request import Precision
from ...models import Activation
from ...training import Recipe
from .indices import choose_indices
from .setting import Setting

_FIRST = 9  # the leading ones have hardly any neighbors


@dataclass(frozen=True)
class ModeTasks(Setting):
    """Tasks and training on top of a setting."""

    indices: tuple[int, ...] | None = None
    """Eigenfunctions to learn, from 0 (the paper's phi_1); by default 9 19 49 99 199
    499 999, as far as these lie below half the number of samples. The paper's are not
    known."""
    label_activation: Activation | None = None
    """Activation of the kernel whose eigenfunctions these are, at the same parameters;
    that of the network by default. The paper's code takes relu for them and trains its
    ResNet18 with gelu; its text does not."""
    recipe: Recipe = Recipe()
    """How all models are trained."""
    precision: Precision = "float32"
    """Of the Gram matrices: float32, float64, or on a GPU high and fast."""
    trained_precision: Precision | None = None
    """Of the Gram matrices after training, one for each task; by default as above. A
    ResNet18 whose residual branches have woken up has sixty times the parameters that
    are active at initialization."""
    mixed_precision: bool = False
    """Train the network in bfloat16, with parameters and batch statistics in float32: a
    resnet18 takes two thirds of the time on a GPU; on a CPU it is slower. Answers of
    the network are rounded too; kernels are those of the network in float32, with the
    parameters that it has learned."""
    gram_on_disk: bool | None = None
    """Keep a Gram matrix on disk while it is needed, from where a resumed run reads it;
    by default on a CPU."""


def precision_after(config: ModeTasks) -> Precision:
    """Precision of the Gram matrices after training.

    Args:
        config: What was asked for.

    Returns:
        The precision.
    """
    return config.trained_precision or config.precision


def mode_indices(config: ModeTasks, n: int) -> tuple[int, ...]:
    """The eigenfunctions of a run.

    Args:
        config: What was asked for.
        n: Number of samples.

    Returns:
        Their indices, ascending.

    Raises:
        ValueError: If there are none by default.
    """
    chosen = choose_indices(config.indices, None, n)
    if config.indices is None:
        chosen = tuple(i for i in chosen if i >= _FIRST)
    if not chosen:
        raise ValueError(
            f"{n} samples are too few for the usual indices, which begin with {_FIRST} "
            f"and lie below {n / 2:g}: give indices, or more samples."
        )
    return chosen
