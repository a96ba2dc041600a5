"""Numbers that were kept are judged as the runs were that they are of."""

import json
from pathlib import Path

import numpy as np
import pytest

from tangentlab.analysis import (
    Estimate,
    Finding,
    Threshold,
    bootstrap,
    exactly,
    mean,
    over_draws,
)
from tangentlab.claims import Verification, verify, write_numbers
from tangentlab.claims.__main__ import main
from tangentlab.claims.kept import _finding, not_kept, read_kept
from tangentlab.claims.tables import finding_json, verification_json
from tangentlab.claims.writing import files_of
from tests.claims.toy import toss

STORED = Path(__file__).parents[2] / "docs" / "results" / "gpu"


def told(done: Verification) -> dict[str, dict]:
    """What is said of each claim, without times and runs."""
    claims = verification_json(done)["claims"]
    return {
        each["id"]: {
            key: value for key, value in each.items() if key not in ("seconds", "runs")
        }
        for each in claims
    }


@pytest.fixture
def numbers(plan, tmp_path):
    """Numbers of three runs that differ, beside what was said of them."""
    beside = toss("D1", model="lenet", mean=0.2, seed=3)._replace(beside=("resnet18",))
    plan(
        beside,
        toss("D1", "D47", mean=0.05, seeds=4)._replace(least_seeds=4),
        toss("D2", data="dice", seeds=2, mean=-1.0)._replace(least_seeds=5),
        networks=("mlp", "lenet", "resnet18"),
    )
    done = verify("smoke", tmp_path / "there")
    write_numbers(done, tmp_path / "numbers")
    return tmp_path / "numbers", done


def test_all_is_said_again(numbers, tmp_path):
    folder, done = numbers
    again = verify("smoke", tmp_path / "here", kept=folder)
    assert told(again) == told(done)
    assert {each.standing for each in again.verdicts} > {"confirmed", "recorded"}
    assert f"--kept {folder}" in again.command and again.missed == ()
    page = files_of(tmp_path / "here").page.read_text()
    assert "figures are not kept with them" in page and "report.html" not in page


def test_runs_and_claims_can_be_chosen(numbers, tmp_path):
    folder, _ = numbers
    models = [each.run.config.model for each in read_kept(folder, "smoke")]
    assert models == ["lenet", "mlp", "mlp"]
    done = verify("smoke", tmp_path / "here", kept=folder, claims=["D2"])
    assert [each.name for each in done.runs] == ["MLP on dice"]


def test_part_of_what_was_kept_confirms_nothing(numbers, tmp_path):
    folder, _ = numbers
    done = verify("smoke", tmp_path / "here", kept=folder, only=["lenet"])
    (alone,) = done.runs
    assert alone.seeds == (3, 4, 5, 6, 7) and alone.reused and alone.path is None
    first = done.verdicts[0]
    assert (first.standing, first.leaning) == ("inconclusive", "confirmed")
    assert first.doubt == (
        "confirmed for LeNet on coins; MLP on coins was left out by --only"
    )
    assert done.lacking == ()


def test_what_was_planned_and_is_not_kept_was_not_measured(numbers, plan, tmp_path):
    folder, _ = numbers
    plan(
        toss("D1", model="lenet", seeds=9),  # kept with other options
        toss("D1", "D3", data="dice", mean=-1.0),
        toss("D4", "D5", model="resnet18"),
    )
    done = verify("smoke", tmp_path / "here", kept=folder)
    found = {each.entry.id: each for each in done.verdicts}
    assert found["D1"].leaning == "confirmed"
    assert found["D1"].doubt == (
        "confirmed for LeNet on coins and MLP on coins; no numbers of MLP on dice are "
        "kept"
    )
    assert [each.entry.id for each in done.lacking] == ["D3", "D4", "D5"]
    assert found["D4"].reason == "no numbers are kept"
    page = files_of(tmp_path / "here").page.read_text()
    assert "since no numbers are kept: D3, D4, D5." in page
    some = verify("smoke", tmp_path / "here", kept=folder, only=["mlp"])
    assert [each.entry.id for each in some.lacking] == ["D3"]


def test_open_claims_tell_what_is_not_kept(plan, tmp_path):
    open_run = toss("D1", mean=0.0, seeds=5)
    plan(open_run)
    write_numbers(verify("smoke", tmp_path / "there"), tmp_path / "numbers")
    plan(open_run, toss("D1", data="dice"), toss("D1", model="lenet"))
    done = verify("smoke", tmp_path / "here", kept=tmp_path / "numbers")
    first = done.verdicts[0]
    assert first.standing == "inconclusive" and first.claim is not None
    names = "MLP on dice and LeNet on coins"
    assert first.claim.remark.startswith(f"no numbers of {names} are kept")


def test_a_run_stands_for_the_plan_whose_options_it_has():
    plans = [toss("D1", mean=0.1), toss("D1", "D2", mean=0.2), toss("D1", data="dice")]
    kept = toss("D1", "D2", mean=0.2, seeds=9)
    assert not_kept(plans, [kept]) == [plans[0], plans[2]]
    assert not_kept(plans, [kept, toss("D1", mean=0.1, seed=7)]) == [plans[2]]
    assert not_kept(plans[1:], [toss("D2", mean=0.3)]) == [
        toss("D1", mean=0.2),
        plans[2],
    ]


def test_an_initialization_counts_once(numbers, tmp_path):
    folder, _ = numbers
    path = folder / "toss-lenet-on-coins.jsonl"
    first, *rest = path.read_text().splitlines()
    for seeds, twice in ((range(8, 13), False), (range(7, 12), True)):
        more = json.loads(first) | {"initializations": list(seeds)}
        text = "\n".join([json.dumps(more), "", *rest])
        (folder / "more.jsonl").write_text(text)
        if twice:
            with pytest.raises(ValueError, match=r"same run, with initialization 7, "):
                read_kept(folder, "smoke")
        else:
            command = read_kept(folder, "smoke")[0].command
            assert "--seed 8" in command and "--seeds" not in command


def test_numbers_are_judged_at_their_own_scale(numbers, tmp_path):
    folder, _ = numbers
    with pytest.raises(ValueError, match="of the scale 'smoke', .* at 'laptop'"):
        verify("laptop", tmp_path / "here", kept=folder)
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    "options", [{"seeds": 9}, {"minutes": 0}, {"cluster": "local:1"}]
)
def test_options_of_runs_are_refused(options, numbers, tmp_path):
    folder, _ = numbers
    with pytest.raises(ValueError, match=f"{next(iter(options))} say how runs are"):
        verify("smoke", tmp_path / "here", kept=folder, **options)


@pytest.mark.parametrize("more", ["numbers=there", "draw=false"])
def test_the_plain_command_performs_no_runs_of_what_is_kept(more, tmp_path):
    with pytest.raises(ValueError, match="performs no runs: numbers= and draw=false"):
        main([f"kept={tmp_path}", f"output={tmp_path / 'here'}", more])


def test_the_plain_command_does_likewise(numbers, tmp_path, capsys):
    folder, done = numbers
    words = [f"kept={folder}", f"output={tmp_path / 'here'}", "claim=D1"]
    assert main(words) == 0
    text = files_of(tmp_path / "here").json.read_text()
    assert json.loads(text)["claims"][0]["verdict"] == told(done)["D1"]["verdict"]
    assert "D1" in capsys.readouterr().out


DRAWS = np.random.default_rng(0).normal(size=7)
FOUND = [
    over_draws(DRAWS),
    bootstrap(mean, DRAWS),
    exactly(0.3),
    exactly(0.0),
    over_draws([1.0]),
    Estimate(np.nan, np.nan, np.nan, np.empty(0)),
    Estimate(1.0, 0.0, 2.0, np.array([0.0, 0.0, 1.0, 2.0])),
]


@pytest.mark.parametrize("estimate", FOUND)
@pytest.mark.parametrize("value", [-0.5, 0.0, 0.3])
@pytest.mark.parametrize("above", [True, False])
def test_p_values_come_back(estimate, value, above):
    finding = Finding("gap", estimate, "inconclusive", True, Threshold(value, above))
    line = json.loads(json.dumps(finding_json(finding)))
    back = _finding(line, 7)
    assert (back.percent, back.threshold) == (True, finding.threshold)
    for side in (True, False):
        p, found = (each.estimate.doubt(value, above=side) for each in (finding, back))
        np.testing.assert_allclose(found, p, atol=2e-4)


@pytest.mark.parametrize("num", [2, 3, 5])
def test_p_values_of_older_files_are_student_s(num):
    estimate = over_draws(DRAWS[:num])
    line = finding_json(Finding("gap", estimate, None, False, Threshold(0.1, True)))
    older = {key: line[key] for key in ("name", "value", "low", "high", "verdict")}
    older |= {"threshold": 0.1, "above": True}
    found = _finding(older, num).estimate
    for side in (True, False):
        p = estimate.doubt(0.1, above=side)
        assert found.doubt(0.1, above=side) == pytest.approx(p, abs=2e-4)


@pytest.mark.parametrize("end", ["low", "high"])
def test_older_files_of_one_seed_have_the_ends_of_a_bootstrap_alone(end):
    estimate = bootstrap(mean, DRAWS)
    value = getattr(estimate, end)
    line = finding_json(Finding("gap", estimate, None, False, Threshold(value, True)))
    older = {key: line[key] for key in ("name", "value", "low", "high", "verdict")}
    older |= {"threshold": value, "above": True}
    found = _finding(older, 1).estimate
    p = found.doubt(value, above=end == "low")
    assert p == pytest.approx(0.025, abs=2e-4)


def head(**changes) -> str:
    """The first line of a file."""
    usual = {"scale": "smoke", "experiment": "toss", "name": "a", "claims": []}
    return json.dumps(
        {**usual, "config": {}, "least_seeds": 0, "beside": [], **changes}
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"no numbers of runs in .*: name a folder of \*\.jsonl"),
        ("[1, 2", "is not a file of JSON lines: "),
        ("", "must have scale, experiment, name, claims, config, least_seeds, beside"),
        ("3", "its line 1 is no object"),
        ("{}\n\nnull", "its line 3 is no object"),
        ('{"experiment": "toss"}', "does not begin with what was run"),
        (head(experiment="walk"), r"toss\.jsonl is not .*Unknown experiment 'walk'"),
        (head(config={"a": 1}), r"toss\.jsonl .* config has unknown keys \['a'\]"),
        (head(config=3), r"toss\.jsonl is not as it was written"),
        (head() + '\n{"claim": "D99"}', "Unknown claim 'D99'"),
        (head() + '\n{"claim": "D1"}', r"toss\.jsonl .*'findings' is missing"),
    ],
)
def test_folders_that_hold_no_numbers_are_refused(text, message, plan, tmp_path):
    plan(toss("D1"))
    if text is not None:
        (tmp_path / "toss.jsonl").write_text(text)
    with pytest.raises(ValueError, match=message):
        verify("smoke", tmp_path / "here", kept=tmp_path)
    assert not (tmp_path / "here").exists()


def test_stored_verdicts_are_what_the_stored_numbers_say(tmp_path):
    found = told(verify("gpu", tmp_path, kept=STORED))
    stored = json.loads((STORED / "verdicts.json").read_text())["claims"]
    assert {each["id"] for each in stored} == set(found)
    for each in stored:
        same = found[each["id"]]
        names = ("verdict", "reason", "remark", "criterion")
        assert [each[name] for name in names] == [same[name] for name in names]
        verdicts = [finding["verdict"] for finding in each["findings"]]
        assert verdicts == [finding["verdict"] for finding in same["findings"]]
