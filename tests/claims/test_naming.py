import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tangentlab.claims import Run
from tangentlab.claims.naming import (
    model_name,
    names_by_experiment,
    run_command,
    run_names,
    run_seeds,
)
from tangentlab.cli.commands import RunExperiment, parse
from tangentlab.experiments.eigenfunctions import Eigenfunctions
from tangentlab.training import Recipe
from tests.claims.toy import EXPERIMENTS, toss


def learn(**options) -> Run:
    return Run("eigenfunctions", Eigenfunctions(**options), ("D1",))


def test_runs_are_named_by_network_and_data():
    runs = [learn(model="lenet", data="cifar10"), learn(model="resnet18"), toss()]
    names = ("LeNet on CIFAR-10", "ResNet18 on digits", "MLP on coins")
    assert run_names(runs) == names
    assert [model_name(run) for run in runs] == ["LeNet", "ResNet18", "MLP"]
    assert model_name(Run("walk", object())) == "walk"


def test_what_is_alike_is_told_apart_by_what_differs():
    runs = [toss(seed=1), toss(seed=2), toss(data="dice")]
    assert run_names(runs) == (
        "MLP on coins, seed 1",
        "MLP on coins, seed 2",
        "MLP on dice",
    )
    long = [learn(indices=(1, 2, 3, 4)), learn(indices=(1, 2)), learn()]
    assert run_names(long) == (
        "MLP on digits, 4 indices",
        "MLP on digits, indices 1 2",
        "MLP on digits, indices default",
    )


def test_experiments_of_the_same_network_are_told_apart():
    runs = [learn(), Run("toss", toss(data="digits").config)]
    assert run_names(runs) == ("MLP on digits, eigenfunctions", "MLP on digits, toss")


def test_beside_the_name_of_its_experiment_a_run_needs_no_more():
    runs = [learn(), Run("toss", toss(data="digits").config)]
    assert names_by_experiment(runs) == ("MLP on digits", "MLP on digits")


def test_one_option_that_tells_runs_apart_is_enough_and_some_tell_most():
    adam = Recipe(epochs=3, optimizer="adam")
    assert run_names([learn(), learn(num_test=9, recipe=adam)]) == (
        "MLP on digits, optimizer sgd",
        "MLP on digits, optimizer adam",
    )
    grid = [toss(mean=1.0, seed=1), toss(mean=1.0, seed=2), toss(mean=2.0, seed=1)]
    assert run_names(grid)[2] == "MLP on coins, mean 2.0, seed 1"


def test_the_command_says_what_differs_from_the_defaults():
    run = learn(data="cifar10", indices=(1, 2), recipe=Recipe(epochs=3), num_pairs=9)
    assert run_command(run) == (
        "tangentlab run eigenfunctions --data cifar10 --indices 1 2 --recipe.epochs 3 "
        "--num-pairs 9"
    )


@dataclass(frozen=True)
class Inner:
    """Options inside others."""

    swift: bool = True
    """One to switch off."""
    rate: float | None = 0.5
    """One to leave out."""


@dataclass(frozen=True)
class Outer:
    """Options of every kind."""

    data: str = "digits"
    """A word."""
    directory: Path | None = None
    """A path."""
    on_disk: bool | None = None
    """Three values."""
    only_one: bool = False
    """One to switch on."""
    places: tuple[int, ...] | None = None
    """Numbers."""
    names: tuple[str, ...] = ("a",)
    """Words."""
    inner: Inner = Inner()
    """Others."""


@pytest.mark.parametrize(
    "config",
    [
        Outer(),
        Outer(data="10", on_disk=True, only_one=True, names=()),
        Outer(
            data="it's here", directory=Path("a b"), names=("mnist:0,1", "two words")
        ),
        Outer(places=(-3, 5), inner=Inner(swift=False, rate=None)),
        Outer(places=(), on_disk=False, inner=Inner(rate=-1e-7)),
    ],
    ids=lambda config: run_command(Run("try", config)),
)
def test_the_command_gives_back_the_config(config):
    program, *words = shlex.split(run_command(Run("try", config)))
    known = {"try": EXPERIMENTS["toss"]._replace(config=Outer)}
    assert program == "tangentlab"
    command = parse(words, known, ["digits"])
    assert command == RunExperiment("try", config, Path("runs"), True)


def test_seeds_are_those_of_the_config():
    assert run_seeds(learn(seed=42, seeds=3)) == (42, 43, 44)
    assert run_seeds(Run("walk", object())) == ()
