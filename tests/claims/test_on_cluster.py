"""Runs that can leave work to a cluster do; the others are performed here."""

import json
from contextlib import contextmanager

import pytest

from tangentlab import cli
from tangentlab.claims import compute, verify
from tangentlab.claims.__main__ import main
from tests.claims.toy import shared_toss, toss

PLAN = toss("D1"), shared_toss("D2"), shared_toss("D2", model="lenet")


def told(folder):
    """What each run that can share said of its cluster."""
    paths = sorted((folder / "runs").glob("*shared_toss*/metrics.jsonl"))
    return [json.loads(path.read_text().splitlines()[-1]) for path in paths]


def test_runs_that_can_share_have_one_connection_and_the_others_none(plan, tmp_path):
    plan(*PLAN)
    done = verify("smoke", tmp_path, cluster="local:1")
    assert [each.failure for each in done.runs] == ["", "", ""] and not done.missed
    first, second = told(tmp_path)
    assert first["workers"] == second["workers"] == 1
    assert first["link"] == second["link"]
    assert "cluster" not in done.command  # it changes nothing of what comes out


def test_what_is_computed_now_and_judged_later_shares_too(plan, tmp_path):
    plan(*PLAN)
    assert main([f"output={tmp_path}", "draw=false", "cluster=local:1"]) == 0
    assert [line["workers"] for line in told(tmp_path)] == [1, 1]


def test_without_a_cluster_nothing_is_shared(plan, tmp_path):
    plan(*PLAN)
    compute("smoke", tmp_path)
    assert [line["workers"] for line in told(tmp_path)] == [None, None]


def test_nothing_is_started_for_runs_that_cannot_share(plan, tmp_path, monkeypatch):
    @contextmanager
    def refuse(cluster):
        raise AssertionError("a cluster was started")
        yield

    monkeypatch.setattr("tangentlab.claims.running.linked", refuse)
    plan(toss("D1"))
    assert not verify("smoke", tmp_path, cluster="local:2").missed
    plan(*PLAN)
    with pytest.raises(AssertionError, match="a cluster was started"):
        verify("smoke", tmp_path, cluster="local:2")


@pytest.mark.parametrize("run", PLAN[:2])
def test_what_is_no_cluster_ends_the_command_at_once(plan, tmp_path, capsys, run):
    plan(run)
    words = ["verify", "--cluster", "nowhere", "--output", str(tmp_path / "here")]
    assert cli.main(words) == 1
    assert "`cluster` must be a scheduler's address" in capsys.readouterr().err
    assert not (tmp_path / "here").exists()
