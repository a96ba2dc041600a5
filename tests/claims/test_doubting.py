"""Claims that are not confirmed by less than they speak of."""

import csv
import io
import json

import pytest

from tangentlab.analysis import left_open
from tangentlab.claims import Run, verify, write_numbers
from tangentlab.claims.doubting import by_numbers, told_by
from tangentlab.claims.tables import run_line
from tangentlab.claims.writing import files_of
from tests.claims.toy import toss

THREE = ("mlp", "lenet", "resnet18")


def of(done, name):
    return next(each for each in done.verdicts if each.entry.id == name)


def remark(done, name) -> str:
    claim = of(done, name).claim
    assert claim is not None
    return claim.remark


def test_nothing_is_confirmed_of_a_network_that_was_not_measured(plan, tmp_path):
    plan(
        toss("D1"),
        toss("D1", model="lenet"),
        toss("D2", data="dice", mean=-1.0),
        networks=THREE,
    )
    done = verify("smoke", tmp_path)
    doubt = "confirmed for MLP on coins and LeNet on coins; ResNet18 was not measured"
    assert of(done, "D1").standing == "inconclusive"
    assert remark(done, "D1") == f"{doubt}; so it is"
    assert of(done, "D2").standing == "refuted"  # one network is enough
    assert done.missed == ()
    files = files_of(tmp_path)
    row, *_ = csv.DictReader(io.StringIO(files.csv.read_text()))
    assert row["measured"].endswith(f"({doubt})")
    page = files.page.read_text()
    assert f"({doubt})</td>" in page
    assert f"<dt>remark</dt><dd>{doubt}; so it is</dd>" in page


def test_it_is_confirmed_where_all_networks_were_measured(plan, tmp_path):
    both = toss("D1", model="lenet", mean=2.0)._replace(beside=("resnet18",))
    plan(toss("D1"), both, toss("D2", data="dice"), networks=THREE)
    done = verify("smoke", tmp_path)
    assert of(done, "D1").standing == "confirmed" and of(done, "D1").doubt == ""
    assert remark(done, "D2").startswith(
        "confirmed for MLP on dice; LeNet and ResNet18 were not measured; "
    )


def test_a_run_knows_its_networks():
    assert toss().networks == {"mlp"}
    assert Run("walk", object()).networks == set()
    assert Run("walk", object(), beside=("lenet",)).networks == {"lenet"}


def test_too_few_initializations_do_not_speak_for_other_networks_either(plan, tmp_path):
    few = toss("D2", data="dice", seeds=4, mean=-1.0)._replace(least_seeds=5)
    plan(toss("D1", seeds=4)._replace(least_seeds=5), few, networks=("mlp", "lenet"))
    done = verify("smoke", tmp_path)
    assert of(done, "D2").leaning == "refuted"
    assert remark(done, "D1") == (
        "too few initializations of MLP on coins (4), a verdict takes 5; the numbers "
        "alone would have it confirmed for MLP on coins; LeNet was not measured; so it "
        "is"
    )


@pytest.mark.parametrize(("mean", "said"), [(1.0, "confirmed"), (-1.0, "refuted")])
def test_a_run_that_could_not_be_judged_leaves_the_others_theirs(
    plan, tmp_path, mean, said
):
    few = toss("D1", model="resnet18", trouble="few")
    plan(toss("D1", mean=mean), toss("D1", model="lenet", mean=mean), few)
    found = of(done := verify("smoke", tmp_path), "D1")
    assert "ResNet18 on coins: too few tosses" in remark(done, "D1")
    if said == "refuted":
        assert (found.standing, found.doubt) == ("refuted", "")
        return
    assert (found.standing, found.leaning) == ("inconclusive", said)
    assert found.doubt == (
        "confirmed for MLP on coins and LeNet on coins; nothing could be judged of "
        "ResNet18 on coins"
    )


def test_it_does_so_where_all_have_too_few_initializations(plan, tmp_path):
    runs = toss("D1", seeds=4), toss("D1", model="lenet", seeds=4, trouble="few")
    plan(*(run._replace(least_seeds=5) for run in runs))
    found = of(verify("smoke", tmp_path), "D1")
    assert (found.standing, found.leaning) == ("inconclusive", "confirmed")
    assert found.doubt == (
        "too few initializations of MLP on coins (4), a verdict takes 5; the numbers "
        "alone would have it confirmed for MLP on coins; nothing could be judged of "
        "LeNet on coins"
    )


def test_where_none_could_be_judged_nothing_is_said(plan, tmp_path):
    plan(toss("D1", trouble="few"), toss("D1", model="lenet", trouble="few"))
    found = of(verify("smoke", tmp_path), "D1")
    assert (found.standing, found.leaning) == ("inconclusive", None)


@pytest.mark.parametrize("seeds", [None, 9])
def test_part_of_the_planned_runs_decides_nothing(plan, tmp_path, seeds):
    fails = toss("D2", model="resnet18", mean=-1.0)
    plan(toss("D1", "D2", "D47"), toss("D1", "D47", model="lenet"), fails)
    done = verify("smoke", tmp_path, only=["lenet"], seeds=seeds)
    assert of(done, "D1").standing == "inconclusive"
    assert of(done, "D1").doubt == (
        "confirmed for LeNet on coins; MLP on coins was left out by --only"
    )
    assert of(done, "D47").standing == "recorded"
    done = verify("smoke", tmp_path, only=["resnet18"], seeds=seeds)
    assert of(done, "D2").leaning == "refuted"
    assert of(done, "D2").doubt == (
        "refuted for ResNet18 on coins; MLP on coins was left out by --only"
    )
    done = verify("smoke", tmp_path, only=["mlp", "lenet"], seeds=seeds)
    assert of(done, "D1").standing == "confirmed"


def test_what_was_left_out_is_named_once(plan, tmp_path):
    runs = [toss("D1", model=model) for model in ("mlp", "lenet")]
    plan(*runs, toss("D1", data="dice"), networks=THREE)
    done = verify("smoke", tmp_path, only=["lenet"])
    assert of(done, "D1").doubt == (
        "confirmed for LeNet on coins; MLP on coins and MLP on dice were left out by "
        "--only; ResNet18 was not measured"
    )


def test_runs_that_hold_only_alone_are_told_in_tables_too(plan, tmp_path, monkeypatch):
    plan(toss("D1"), toss("D1", model="lenet"))
    monkeypatch.setattr(
        "tangentlab.claims.joining.judge_together",
        lambda findings: [each._replace(verdict="inconclusive") for each in findings],
    )
    found = of(verify("smoke", tmp_path), "D1")
    assert found.standing == "inconclusive" and found.claim is not None
    assert found.doubt.startswith("MLP on coins and LeNet on coins each alone would ")
    assert found.claim.remark == f"{found.doubt}; so it is"


def test_a_run_with_too_few_initializations_does_not_say_confirmed(plan, tmp_path):
    plan(toss("D1", "D47", seeds=4)._replace(least_seeds=5), toss("D2", data="dice"))
    done = verify("smoke", tmp_path / "there")
    few, enough = done.runs
    assert ": D1 inconclusive, D47 recorded (" in run_line(few, 1, 2)
    assert ": D2 confirmed (" in run_line(enough, 2, 2)
    file, *_ = write_numbers(done, tmp_path / "numbers")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    first, *_, last = (line for line in lines if "claim" in line)
    assert (first["claim"], first["verdict"]) == ("D1", "inconclusive")
    assert first["remark"] == (
        "4 seeds, a verdict takes 5; the numbers alone would have it confirmed; "
        "so it is"
    )
    assert first["findings"][0]["verdict"] == "confirmed"
    assert (last["claim"], last["verdict"]) == ("D47", "recorded")


def test_what_a_run_leaves_open_is_judged_by_its_numbers_where_that_is_said(
    plan, tmp_path
):
    plan(toss("D1", seeds=4)._replace(least_seeds=5), toss("D2", data="dice"))
    few, enough = verify("smoke", tmp_path).runs
    whole = few.claim("D1")
    assert whole is not None
    alone = left_open(whole, "4 seeds, a verdict takes 5")
    assert by_numbers(few, alone) is whole and by_numbers(few, whole) is whole
    assert by_numbers(enough, alone) is alone  # its own word stands
    assert told_by(few, alone) is alone


def test_a_network_with_too_few_initializations_leaves_the_others_theirs(
    plan, tmp_path
):
    few = toss("D1", "D2", model="resnet18", seeds=2)._replace(least_seeds=3)
    fails = toss("D2", model="lenet", mean=-1.0)
    plan(toss("D1", "D2"), fails, few, networks=("mlp", "resnet18"))
    done = verify("smoke", tmp_path)
    assert of(done, "D1").doubt == (
        "confirmed for MLP on coins; too few initializations of ResNet18 on coins (2), "
        "a verdict takes 3"
    )
    assert of(done, "D1").standing == "inconclusive"
    assert of(done, "D1").leaning == "confirmed"
    refuted = of(done, "D2")  # whatever the third would say
    assert refuted.standing == "refuted" and refuted.doubt == ""
    assert refuted.claim is not None
    last = refuted.claim.findings[-1]
    assert last.name.startswith("ResNet18") and last.verdict is last.threshold is None


def test_what_refutes_is_named_without_those_that_do_not_count(plan, tmp_path):
    few = toss("D1", model="lenet", seeds=4)._replace(least_seeds=5)
    plan(toss("D1", mean=-1.0), few, toss("D1", model="resnet18"))
    done = verify("smoke", tmp_path, only=["mlp", "lenet"])
    assert of(done, "D1").doubt == (
        "refuted for MLP on coins; ResNet18 on coins was left out by --only"
    )
