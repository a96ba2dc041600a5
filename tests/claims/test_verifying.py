import csv
import io
import json
import re

import pytest

from tangentlab.claims import CATALOG, verify
from tangentlab.claims.writing import files_of
from tests.claims.toy import toss


def standings(done) -> dict[str, str]:
    return {each.entry.id: each.standing for each in done.verdicts}


def of(done, name):
    return next(each for each in done.verdicts if each.entry.id == name)


def findings(done, name):
    claim = of(done, name).claim
    assert claim is not None
    return claim.findings


def runs_in(folder) -> list[str]:
    return sorted(path.name for path in (folder / "runs").iterdir())


def test_every_claim_has_a_verdict_and_nothing_unmeasured_is_confirmed(plan, tmp_path):
    plan(toss("D1", "D2", "D47"), toss("D1", model="lenet", mean=-1.0))
    seen = []
    done = verify("smoke", tmp_path, watch=lambda *args: seen.append(args))
    assert [each.entry.id for each in done.verdicts] == list(CATALOG)
    expected = {"D1": "refuted", "D2": "confirmed", "D47": "recorded"}
    assert standings(done) == {n: expected.get(n, "not measured") for n in CATALOG}
    assert [each.name for each in findings(done, "D1")] == [
        "MLP on coins, toss",
        "LeNet on coins, toss",
    ]
    assert [len(of(done, name).runs) for name in ("D1", "D2", "D3")] == [2, 1, 0]
    assert of(done, "D3").reason == "not measured at any scale"
    assert of(done, "D7").reason == "not measured at this scale, but at laptop"
    assert done.missed == done.lacking == () and of(done, "D1").seeds == 5
    assert done.shown == done.verdicts and done.named == ()
    assert [(place, total) for _, place, total in seen] == [(1, 2), (2, 2)]
    assert done.runs == tuple(run for run, _, _ in seen)


def test_only_the_runs_of_the_chosen_claims_are_performed(plan, tmp_path):
    plan(toss("D1"), toss("D2", mean=2.0))
    done = verify("smoke", tmp_path, claims=["D2"])
    assert [each.run.config.mean for each in done.runs] == [2.0]
    assert standings(done)["D2"] == "confirmed"
    assert of(done, "D1").reason == "not asked for"
    assert done.command.endswith("--claim D2") and done.wanted == ("D2",)


def test_a_run_counts_only_for_what_it_was_planned_for(plan, tmp_path):
    plan(toss("D2"))  # its report speaks of D1 too
    assert standings(verify("smoke", tmp_path))["D1"] == "not measured"


def test_a_finished_run_is_used_again_and_gives_the_same(plan, tmp_path):
    plan(toss("D1"))
    first = verify("smoke", tmp_path)
    before = runs_in(tmp_path)
    second = verify("smoke", tmp_path)
    assert [each.reused for each in (*first.runs, *second.runs)] == [False, True]
    assert runs_in(tmp_path) == before
    assert second.runs[0].seconds == first.runs[0].seconds
    assert standings(second) == standings(first)
    plan(toss("D1", seed=9))
    assert not verify("smoke", tmp_path).runs[0].reused
    assert len(runs_in(tmp_path)) == 2


def test_a_damaged_run_is_run_again_and_lost_figures_are_drawn_again(plan, tmp_path):
    plan(toss("D1"))
    (path,) = [each.path for each in verify("smoke", tmp_path).runs]
    assert path is not None
    (path / "report.html").unlink()
    assert verify("smoke", tmp_path).runs[0].reused
    assert (path / "report.html").is_file()
    (path / "config.json").write_text("{")
    assert not verify("smoke", tmp_path).runs[0].reused


def test_an_interrupted_run_goes_on(plan, tmp_path):
    plan(toss("D1", trouble="half"))
    first = verify("smoke", tmp_path)
    assert standings(first)["D1"] == "not measured"
    assert "RuntimeError: It got dark." in of(first, "D1").reason
    (partial,) = (tmp_path / "runs").glob(".2*")
    assert partial.name.endswith(".partial")
    second = verify("smoke", tmp_path)
    assert standings(second)["D1"] == "confirmed" and not second.missed
    (finished,) = (tmp_path / "runs").iterdir()
    assert json.loads((finished / "metrics.jsonl").read_text())["resumed"] is True


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("run", r"MLP on coins failed \(ValueError: The coin rolled <away>.\)"),
        ("report", r"MLP on coins failed \(LookupError: no picture\)"),
        ("silent", "MLP on coins reported nothing of it"),
    ],
)
def test_a_run_that_fails_leaves_its_claims_unmeasured(
    plan, tmp_path, trouble, message
):
    plan(toss("D1", trouble=trouble), toss("D1", "D2", model="lenet"))
    done = verify("smoke", tmp_path)
    assert standings(done)["D1"] == "not measured"
    assert standings(done)["D2"] == "confirmed"
    assert [each.entry.id for each in done.missed] == ["D1"]
    assert re.fullmatch(message, of(done, "D1").reason)
    assert len(findings(done, "D1")) == 1  # that of the other run is kept


def test_a_keyboard_interrupt_is_no_failed_run(plan, tmp_path, monkeypatch):
    plan(toss("D1"))

    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tangentlab.claims.performing.perform", interrupt)
    with pytest.raises(KeyboardInterrupt):
        verify("smoke", tmp_path)


def test_unknown_names_list_the_known_ones(plan, tmp_path, no_type_checks):
    with pytest.raises(ValueError, match="Unknown claim 'D99'. Known: D1, D10, "):
        verify("smoke", tmp_path, claims=["D1", "D99"])
    with pytest.raises(
        ValueError, match="Unknown scale 'huge'. Known: gpu, laptop, sm"
    ):
        verify("huge", tmp_path)  # pyright: ignore[reportArgumentType]


def test_verdicts_are_written_for_programs(plan, tmp_path):
    plan(toss("D1"), toss("D2", trouble="run"))
    verify("smoke", tmp_path)
    files = files_of(tmp_path)
    written = json.loads(files.json.read_text())
    first, second = written["claims"][:2]
    assert (first["id"], first["verdict"], first["runs"]) == ("D1", "confirmed", [0])
    assert first["criterion"] == "above 0"  # the one that was applied
    assert first["catalog_criterion"] == CATALOG["D1"].criterion
    assert second["criterion"] == second["catalog_criterion"]
    (finding,) = first["findings"]
    assert finding["low"] < finding["value"] < finding["high"]
    assert (finding["threshold"], finding["above"]) == (0.0, True)
    assert second["verdict"] == "not measured" and "rolled" in second["reason"]
    ok, failed = written["runs"]
    assert ok["seeds"] == [0, 1, 2, 3, 4] and ok["config"]["mean"] == 1.0
    assert (tmp_path / ok["folder"] / "figures" / "tosses.csv").is_file()
    assert "Traceback" in failed["traceback"] and failed["folder"] is None
    assert written["command"].startswith("tangentlab verify --scale smoke --output ")
    rows = list(csv.DictReader(io.StringIO(files.csv.read_text())))
    assert [row["claim"] for row in rows] == list(CATALOG)
    assert rows[0]["verdict"] == "confirmed" and rows[0]["published"]
    latex = files.latex.read_text()
    assert latex.count(r"\\") == 1 + len(CATALOG) and r"\toprule" in latex
