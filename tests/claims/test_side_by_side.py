"""Runs in processes side by side come out as one by one."""

import multiprocessing

import pytest

from tangentlab import experiments
from tangentlab.claims import verify
from tangentlab.claims.running import check_processes
from tangentlab.claims.side_by_side import (
    Job,
    default_processes,
    perform_side_by_side,
)
from tests.claims.toy import toss


def test_verdicts_runs_and_pages_are_those_of_one_process(plan, tmp_path):
    runs = [toss("D1"), toss("D2", mean=-1.0), toss("D47", model="lenet")]
    plan(*runs, toss("D1", seed=3, trouble="run"))
    order = []
    together = verify(
        "smoke",
        tmp_path / "together",
        processes=2,
        watch=lambda *words: order.append(words[1:]),
    )
    assert order == [(1, 4), (2, 4), (3, 4), (4, 4)]
    alone = verify("smoke", tmp_path / "alone")
    for ours, theirs in zip(together.runs, alone.runs, strict=True):
        assert (ours.run, ours.failure) == (theirs.run, theirs.failure)
        if ours.report is not None and theirs.report is not None:
            assert ours.report.sections == theirs.report.sections
            assert ours.report.console_table == theirs.report.console_table
    assert "ValueError: The coin rolled" in together.runs[3].failure
    assert "Traceback" in together.runs[3].traceback
    for each in ("D1", "D2", "D47"):
        kinds = {v.standing for v in together.shown if v.entry.id == each}
        assert kinds == {v.standing for v in alone.shown if v.entry.id == each}
    figures = list((tmp_path / "together").rglob("tosses.png"))
    assert len(figures) == 3
    assert multiprocessing.active_children() == []


def test_what_a_process_was_doing_when_it_died_is_done_again(plan, tmp_path):
    plan(toss("D1", trouble="died"), toss("D2", trouble="died", seed=1), toss("D47"))
    done = verify("smoke", tmp_path, processes=2)
    assert all(each.path is not None and each.report for each in done.runs)
    assert not list(tmp_path.rglob("*.partial"))


def test_a_run_that_kills_its_process_twice_leaves_its_claims_alone(plan, tmp_path):
    plan(toss("D1", trouble="dies"), toss("D2", seed=1))
    done = verify("smoke", tmp_path, processes=2)
    assert "performed it died, twice; perhaps memory ran out" in done.runs[0].failure
    by_id = {each.entry.id: each.standing for each in done.shown}
    assert (by_id["D1"], by_id["D2"]) == ("not measured", "confirmed")
    assert multiprocessing.active_children() == []


def test_long_runs_begin_first_and_what_is_finished_is_used(plan, tmp_path):
    runs = [toss("D1"), toss("D2", seed=1)._replace(seconds=9)]
    plan(*runs)
    jobs = list(map(Job, runs, ("short", "long")))
    options = {"progress": False, "drawn": False}
    known, root = experiments.EXPERIMENTS, tmp_path / "runs"
    ended = perform_side_by_side(known, jobs, root, 1, **options)
    assert [(at, each.name) for at, each in ended] == [(1, "long"), (0, "short")]
    done = verify("smoke", tmp_path, processes=2)
    assert all(each.reused and each.report for each in done.runs)
    assert not (tmp_path / "runs" / ".shared").exists()


def test_numbers_of_processes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="processes must be at least 1, got 0"):
        check_processes(0, None)
    with pytest.raises(ValueError, match="processes = 2 beside `cluster`"):
        check_processes(2, "local:1")
    check_processes(1, "local:1")
    assert 1 <= default_processes() <= 4
