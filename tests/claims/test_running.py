"""Runs within a given time, computed now and judged later."""

import json

import pytest

from tangentlab.claims import compute, verify, write_numbers
from tangentlab.claims.budget import Budget
from tangentlab.claims.choosing import chosen_runs
from tests.claims.toy import toss


def standing(done, name):
    return next(each for each in done.verdicts if each.entry.id == name)


def test_a_run_that_does_not_fit_is_left_out_and_a_shorter_one_is_not(plan, tmp_path):
    plan(toss("D1")._replace(seconds=500), toss("D2", mean=2.0)._replace(seconds=20))
    done = verify("smoke", tmp_path, minutes=1)
    assert standing(done, "D2").standing == "confirmed"
    first = standing(done, "D1")
    assert first.standing == "not measured" and done.missed == (first,)
    assert first.reason.startswith("MLP on coins, mean 1.0 was not begun (it takes ab")
    assert "it takes about 500 s, and " in done.runs[0].left_out
    page = (tmp_path / "report.html").read_text()
    assert "This run was not begun: it takes about 500 s" in page
    assert "Planned but not measured, since there was no time for a run: D1." in page
    assert "since a run failed" not in page
    assert (tmp_path / "runs" / ".shared").is_dir()  # more is to come
    assert verify("smoke", tmp_path).missed == ()
    assert not (tmp_path / "runs" / ".shared").exists()


def test_runs_are_computed_now_and_judged_later(plan, tmp_path):
    plan(toss("D1"), toss("D2", trouble="run"))
    lines = []
    ended = compute("smoke", tmp_path, watch=lambda *args: lines.append(args))
    assert [each.path is None for each in ended] == [False, True]
    assert ended[0].report is None and "rolled" in ended[1].failure
    assert len(lines) == 2 and not (tmp_path / "verdicts.json").exists()
    assert not list(tmp_path.rglob("*.png"))
    done = verify("smoke", tmp_path, minutes=0)
    assert standing(done, "D1").standing == "confirmed" and done.runs[0].reused
    assert "the time given was over" in standing(done, "D2").reason
    assert list(tmp_path.rglob("tosses.png"))


def test_a_claim_whose_runs_are_not_asked_for_is_not_measured(plan, tmp_path):
    plan(toss("D1"), toss("D2", model="lenet"))
    done = verify("smoke", tmp_path, only=["lenet"])
    assert standing(done, "D1").reason == "its runs were not asked for"
    assert standing(done, "D2").standing == "confirmed"
    assert done.command.endswith("--only lenet")


def test_time_cannot_be_negative():
    with pytest.raises(ValueError, match=r"minutes must be at least 0 .*, got -1\."):
        Budget.of(-1)
    assert Budget.of(None).refuses(toss()._replace(seconds=10**9)) == ""


def test_runs_are_chosen_by_what_they_are_about(plan):
    mine = [toss("D1"), toss("D1", model="lenet"), toss("D2", data="dice")]
    plan(*mine)
    assert chosen_runs("smoke", ["D1"], ["mlp"]) == mine[:1]
    assert chosen_runs("smoke", ["D1", "D2"], ["mlp", "dice"]) == mine[2:]
    assert chosen_runs("smoke", ["D1", "D2"], ["mlp", "lenet", "coins"]) == mine[:2]
    assert chosen_runs("smoke", ["D1", "D2"], ["toss"]) == mine
    message = r"Unknown run 'resnet'\. Known: coins, dice, lenet, mlp, toss\."
    with pytest.raises(ValueError, match=message):
        chosen_runs("smoke", ["D1"], ["resnet"])


def test_runs_have_at_least_as_many_initializations_as_are_asked_for(plan, tmp_path):
    few, many = toss("D1", seeds=2)._replace(seconds=10), toss("D2", seeds=7)
    plan(few, many)
    more, same = chosen_runs("smoke", ["D1", "D2"], None, seeds=5)
    assert (more.config.seeds, more.seconds) == (5, 25) and same == many
    assert chosen_runs("smoke", ["D1"], None, seeds=1) == [few]
    with pytest.raises(ValueError, match="seeds must be at least 1, got 0"):
        chosen_runs("smoke", ["D1"], None, seeds=0)
    done = verify("smoke", tmp_path, seeds=5)
    assert [len(each.seeds) for each in done.runs] == [5, 7]
    assert "--seeds 5" in done.command


def test_too_few_initializations_decide_nothing(plan, tmp_path):
    plan(toss("D1", "D47", seeds=4)._replace(least_seeds=5), toss("D2"))
    done = verify("smoke", tmp_path)
    found = standing(done, "D1")
    assert found.standing == "inconclusive" and not done.missed
    assert found.claim is not None
    assert found.claim.remark == (
        "too few initializations of MLP on coins, seeds 4 (4), a verdict takes 5; the "
        "numbers alone would have it confirmed; so it is"
    )
    assert standing(done, "D47").standing == "recorded"
    assert standing(done, "D2").standing == "confirmed"


def test_the_numbers_of_all_runs_are_small_text(plan, tmp_path):
    plan(toss("D1", mean=3.0), toss("D2", model="lenet", trouble="run"))
    done = verify("smoke", tmp_path / "there")
    files = write_numbers(done, tmp_path / "numbers")
    assert [path.name for path in files] == [
        "toss-mlp-on-coins.jsonl",
        "verdicts.json",
    ]
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert lines[0]["config"]["mean"] == 3.0 and lines[0]["wall_seconds"] >= 0
    claims = [line["claim"] for line in lines if "claim" in line]
    assert claims == ["D1", "D2", "D47"]
    rows = [line["row"]["value"] for line in lines if "row" in line]
    assert len(rows) == 5 and abs(sum(rows) / 5 - 3) < 0.3
    each = [line["details"] for line in lines if "details" in line]
    assert each == [{"number": n, "value": v} for n, v in enumerate(rows)]
    assert lines[-1] == {"metrics": {"resumed": False}}
    verdicts = json.loads(files[1].read_text())
    assert verdicts["claims"][0]["verdict"] == "confirmed"
