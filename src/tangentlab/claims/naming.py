"""What a run is called, and the command that performs it alone."""

import dataclasses
import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from ..store.config import to_json
from .scales import Run

_WRITTEN = {
    "mlp": "MLP",
    "lenet": "LeNet",
    "resnet18": "ResNet18",
    "cifar10": "CIFAR-10",
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
}
_TELLING = ("optimizer", "activation", "seed")
_SHOWN = 3  # values of a list


def run_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Short names that tell some runs apart.

    Args:
        runs: The runs.

    Returns:
        Network and data set of each; where these are equal, also the experiment and
        the options in which they differ.
    """
    names = [_subject(run) for run in runs]
    for name in _repeated(names):
        same = [at for at, each in enumerate(names) if each == name]
        if len({runs[at].experiment for at in same}) > 1:
            for at in same:
                names[at] = f"{name}, {runs[at].experiment}"
    for name in _repeated(names):
        same = [at for at, each in enumerate(names) if each == name]
        for at, options in zip(
            same, _differences([runs[i] for i in same]), strict=True
        ):
            names[at] = ", ".join([name, *options])
    return tuple(names)


def names_by_experiment(runs: Sequence[Run]) -> tuple[str, ...]:
    """Short names that tell runs from others of their experiment.

    Args:
        runs: The runs.

    Returns:
        Names, to be shown beside that of the experiment.
    """
    names = [""] * len(runs)
    for experiment in {run.experiment for run in runs}:
        same = [at for at, run in enumerate(runs) if run.experiment == experiment]
        for at, name in zip(same, run_names([runs[i] for i in same]), strict=True):
            names[at] = name
    return tuple(names)


def run_command(run: Run) -> str:
    """The command that performs a run alone.

    Args:
        run: The run.

    Returns:
        A command line that gives back an equal config.
    """
    words = _options(type(run.config)(), run.config)
    return shlex.join(["tangentlab", "run", run.experiment, *words])


def run_seeds(run: Run) -> tuple[int, ...]:
    """The initialization seeds of a run, as far as its config tells.

    Args:
        run: The run.

    Returns:
        `seed`, `seed + 1`, ... for as many as `seeds` says, or the seeds listed there;
        empty for a config without a seed.
    """
    first, seeds = getattr(run.config, "seed", None), getattr(run.config, "seeds", 1)
    if isinstance(seeds, tuple | list):
        return tuple(seeds)
    return () if first is None else tuple(range(first, first + seeds))


def written(network: str) -> str:
    """The name of a network, as one writes it.

    Args:
        network: Its name in a config.

    Returns:
        Such as `LeNet`.
    """
    return _WRITTEN.get(network, network)


def network_name(run: Run, claimed: Sequence[str]) -> str:
    """The network in which a run measures a claim, with its data.

    Args:
        run: The run.
        claimed: Networks that the claim is about, if it names some.

    Returns:
        Such as `LeNet on CIFAR-10`, or `ResNet18` for one that the run looks at beside
        its own; empty where it has no network.
    """
    beside = [written(each) for each in run.beside if each in claimed]
    if beside:
        return " and ".join(beside)
    return _subject(run) if run.networks else ""


def model_name(run: Run) -> str:
    """The network of a run, as one writes it.

    Args:
        run: The run.

    Returns:
        Such as `LeNet`; the experiment's name where the config has no network.
    """
    model = getattr(run.config, "model", None)
    return written(model) if isinstance(model, str) else run.experiment


def _subject(run: Run) -> str:
    fields = [getattr(run.config, name, None) for name in ("model", "data")]
    words = [_WRITTEN.get(each, each) for each in fields if isinstance(each, str)]
    return " on ".join(words) or run.experiment


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _differences(runs: Sequence[Run]) -> list[list[str]]:
    """For each run one option that tells it from the others, or else all that do."""
    flat = [_flat(to_json(run.config)) for run in runs]
    names = list(dict.fromkeys(name for options in flat for name in options))
    kinds = {n: len({json.dumps(o.get(n)) for o in flat}) for n in names}
    alone = [n for n in names if kinds[n] == len(runs)]
    alone.sort(key=lambda n: n.rpartition(".")[2] not in _TELLING)
    varied = alone[:1] or [n for n in names if kinds[n] > 1]
    return [[_option(name, options.get(name)) for name in varied] for options in flat]


def _option(name: str, value: Any) -> str:
    words = name.rpartition(".")[2].replace("_", " ")
    if isinstance(value, list) and len(value) > _SHOWN:
        return f"{len(value)} {words}"
    if isinstance(value, list):
        return f"{words} {' '.join(map(str, value))}"
    return f"{words} {'default' if value is None else value}"


def _flat(options: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat = {}
    for name, value in options.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _options(default: Any, given: Any, prefix: str = "--") -> list[str]:
    """What of a config is not as by default, as words of the command line."""
    hints, words = get_type_hints(type(given)), []
    for name, hint in hints.items():
        before, value = getattr(default, name), getattr(given, name)
        option = name.replace("_", "-")
        if value == before and type(value) is type(before):
            continue
        if dataclasses.is_dataclass(value):
            words += _options(before, value, f"{prefix}{option}.")
        elif hint is bool:
            words.append(f"{prefix}{'' if value else 'no-'}{option}")
        else:
            values = value if isinstance(value, tuple | list) else [value]
            words += [prefix + option, *map(str, values)]
    return words
