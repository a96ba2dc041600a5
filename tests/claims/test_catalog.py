import dataclasses
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest

from tangentlab import experiments
from tangentlab.claims import CATALOG, SCALES, plans
from tangentlab.claims.budget import Budget
from tangentlab.claims.catalog import GROUPS
from tangentlab.claims.naming import run_command, run_names
from tangentlab.cli.commands import RunExperiment, parse
from tangentlab.models import ModelName
from tests.claims.toy import toss

NETWORKS = get_args(ModelName)
PLANNED = {scale: plans.planned(scale) for scale in SCALES}
ALL = [(scale, run) for scale, runs in PLANNED.items() for run in runs]
IDS = [f"{scale}-{run.experiment}-{i}" for i, (scale, run) in enumerate(ALL)]


def test_every_claim_is_there_once_in_order():
    assert list(CATALOG) == [*(f"D{number}" for number in range(1, 49)), "E12"]
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(
        CATALOG
    )


@pytest.mark.parametrize("entry", CATALOG.values(), ids=CATALOG)
def test_every_claim_says_who_claims_what_and_when_it_holds(entry):
    for text in (entry.statement, entry.source, entry.published, entry.criterion):
        assert text.strip() == text and text
        assert not text.endswith(".")
    assert len(entry.statement) < 90


def test_one_entry_is_recorded_and_no_claim():
    assert [name for name, entry in CATALOG.items() if not entry.judged] == ["D47"]


def test_published_numbers_are_those_of_table_1():
    for value in ("26.0", "25.8", "22.7", "63.6", "83.0", "96.7"):
        assert value in CATALOG["D7"].published
    for value in ("67.6", "75.0", "81.4"):
        assert value in CATALOG["D8"].published


@pytest.mark.parametrize("entry", CATALOG.values(), ids=CATALOG)
def test_an_entry_lists_the_networks_it_names(entry):
    text = " ".join((entry.statement, entry.published, entry.criterion))
    named = {name for name in NETWORKS if re.search(rf"\b{name}\b", text, re.I)}
    assert named <= set(entry.networks) <= set(NETWORKS)
    if "all three" in text:
        assert entry.networks == NETWORKS
    assert entry.judged or not entry.networks


def test_what_the_paper_shows_of_several_networks_is_about_all_of_them():
    about = {name: entry.networks for name, entry in CATALOG.items() if entry.networks}
    three = {f"D{number}" for number in (1, 2, 3, 4, 6, 7, 8, 9, 11, 21)}
    two = {f"D{number}" for number in (5, 10, 12, 13, 14)}
    batch_norm = {"D22", "D23"}
    assert {name for name, networks in about.items() if networks == NETWORKS} == three
    assert all(about[name] == ("mlp", "lenet") for name in two)
    assert all(about[name] == ("resnet18",) for name in batch_norm)
    assert about["D18"] == about["D19"] == ("lenet", "resnet18")
    assert set(about) == three | two | batch_norm | {"D18", "D19"}


@pytest.mark.parametrize("scale", SCALES)
def test_active_parameters_are_counted_in_a_resnet_at_every_scale(scale):
    runs = [run for run in PLANNED[scale] if "D23" in run.claims]
    assert runs and all("resnet18" in run.networks for run in runs)


@pytest.mark.parametrize(("scale", "run"), ALL, ids=IDS)
def test_a_planned_run_fits_its_experiment_and_names_known_claims(scale, run):
    experiment = experiments.EXPERIMENTS[run.experiment]
    assert type(run.config) is experiment.config
    assert run.claims and set(run.claims) <= set(CATALOG)


@pytest.mark.parametrize("run", PLANNED["gpu"], ids=lambda run: run.experiment)
def test_every_run_at_the_paper_s_sizes_says_what_it_takes(run):
    assert run.seconds > 0
    assert Budget.of(run.seconds / 60 - 0.1).refuses(run)


@pytest.mark.parametrize(("scale", "run"), ALL, ids=IDS)
def test_the_command_of_a_planned_run_gives_back_its_config(scale, run):
    program, *words = shlex.split(run_command(run))
    command = parse(words, experiments.EXPERIMENTS, ["digits"])
    assert program == "tangentlab"
    assert command == RunExperiment(run.experiment, run.config, Path("runs"), True)


@pytest.mark.parametrize("scale", SCALES)
def test_names_tell_all_runs_of_a_scale_apart(scale):
    names = run_names(PLANNED[scale])
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("scale", SCALES)
def test_every_claim_of_the_lectures_is_measured_at_every_scale(scale):
    measured = {claim for run in PLANNED[scale] for claim in run.claims}
    assert {*(f"D{number}" for number in range(24, 46)), "D48"} <= measured


def test_a_run_of_two_plans_is_performed_once(monkeypatch):
    other = toss("D1", mean=2.0)
    first = {"smoke": (toss("D1", "D2"), other)}
    monkeypatch.setattr(plans, "PLANS", (first, {"smoke": (toss("D2", "D3"),)}))
    assert plans.planned("smoke") == (toss("D1", "D2", "D3"), other)
    assert plans.planned("gpu") == ()
    assert dataclasses.is_dataclass(plans.planned("smoke")[0].config)
