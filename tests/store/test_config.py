import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from tangentlab import store
from tangentlab.experiments import DEMO
from tangentlab.experiments import EXPERIMENTS as REAL
from tangentlab.store import config as store_config
from tests.toy_experiment import CONFIGS, Step, Walk, make_run


def edit_config(path: Path, change) -> None:
    saved = json.loads((path / "config.json").read_text())
    change(saved)
    (path / "config.json").write_text(json.dumps(saved))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(experiment="run"), "experiment 'run'. Known: walk"),
        (lambda s: s.update(extra=1), "must have the keys 'experiment' and 'config'"),
        (lambda s: s["config"].update(sede=1), r"unknown keys \['sede'\].*seed"),
        (lambda s: s["config"]["step"].update(x=1), r"config.step has unknown keys"),
        (lambda s: s["config"].pop("seed"), r"lacks the keys \['seed'\]"),
        (lambda s: s["config"].update(seed="1"), "seed must be of type int, got '1'"),
        (lambda s: s["config"].update(seed=True), "seed must be of type int, got True"),
        (lambda s: s["config"].update(lengths=3), "lengths must be of type"),
        (lambda s: s["config"].update(lengths=[0.5]), r"lengths\[0\] must be of type"),
        (lambda s: s["config"].update(start=[1]), "start must hold 2 values"),
        (lambda s: s["config"].update(kind="x"), "kind must be one of .*'plain'"),
        (lambda s: s["config"].update(step=1), "must be an object with the fields"),
        (lambda s: s["config"].update(folder=1), "type Path, got 1. Or: .*NoneType"),
    ],
)
def test_an_edited_config_is_read_strictly(tmp_path, change, message):
    path = make_run(tmp_path)
    edit_config(path, change)
    with pytest.raises(ValueError, match=message):
        store.open_run(path, CONFIGS)


def test_every_field_changes_the_hash():
    changes = [{"lengths": (1,)}, {"kind": "broken"}, {"step": Step(1.0)}, {"seed": 1}]
    configs = [Walk(), *(replace(Walk(), **change) for change in changes)]
    hashes = {store_config.config_hash("walk", config) for config in configs}
    hashes.add(store_config.config_hash("run", Walk()))
    assert len(hashes) == len(configs) + 1


@dataclass(frozen=True)
class Loose:
    value: Any = None


@dataclass(frozen=True)
class Mixed:
    choice: Step | Walk = Step()
    table: dict[str, list[int]] | None = None
    marked: Annotated[int, "tyro reads such marks"] = 3


@dataclass(frozen=True)
class Twin:
    size: float = 0.5


@dataclass(frozen=True)
class Ambiguous:
    step: Step | Twin = Step()


@pytest.mark.parametrize(
    "config",
    [
        Mixed(table={"a": [1, 2]}),
        Mixed(choice=Walk()),
        DEMO,
        *(experiment.config() for experiment in REAL.values()),
    ],
)
def test_configs_load_back_equal(config):
    text = json.dumps(store_config.to_json(config))
    loaded = store_config.from_json(type(config), json.loads(text), where="config")
    assert loaded == config


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        (Walk(step=Step(float("inf"))), ValueError, "cannot hold inf"),
        (Loose(np.ones(2)), TypeError, "of type ndarray: use plain"),
        (Loose({1: 2}), TypeError, "of type dict"),
        (Ambiguous(Twin()), ValueError, "would not load back equal"),
    ],
)
def test_a_config_that_cannot_be_saved_fails_before_the_run(
    tmp_path, config, error, message
):
    with pytest.raises(error, match=message):
        with store.create(tmp_path, "walk", config):
            pytest.fail("the block must not start")
    assert not list(tmp_path.iterdir())
