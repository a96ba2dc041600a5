import re

import pytest

from tangentlab import cli
from tangentlab.claims import CATALOG
from tangentlab.cli import verifying
from tangentlab.cli.commands import Verify
from tests.claims.toy import toss, use_plan


@pytest.fixture
def plan(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TANGENTLAB_DEBUG", raising=False)
    return lambda *runs, **options: use_plan(monkeypatch, *runs, **options)


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    """Side by side is tested on its own: processes take seconds to start."""
    monkeypatch.setattr(verifying, "default_processes", lambda: 1)


def test_processes_are_those_asked_for_or_what_suits_the_machine(monkeypatch):
    monkeypatch.setattr(verifying, "default_processes", lambda: 3)
    assert verifying._processes(Verify()) == 3
    assert verifying._processes(Verify(processes=2)) == 2
    assert verifying._processes(Verify(cluster="local:2")) == 1


def words(text: str) -> str:
    return " ".join(text.split())


def test_it_prints_runs_verdicts_and_files_and_ends_with_0(plan, tmp_path, capsys):
    plan(toss("D1", "D47"), toss("D2", mean=-1.0))
    assert cli.main(["verify", "--no-progress"]) == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    first = r"\[1/2\] toss, MLP on coins, mean 1.0: D1 confirmed, D47 recorded \(.* s\)"
    assert re.fullmatch(first, lines[0])
    assert re.fullmatch(r"\[2/2\] .* D2 refuted \(.* s\)", lines[1])
    titles = "claim published measured criterion verdict seeds time"
    for part in (titles, "✗ refuted 5"):
        assert part in words(output)
    assert (
        "1 confirmed, 1 refuted, 0 inconclusive, 1 recorded, 46 not measured" in output
    )
    assert words(output).count("not measured at any scale") >= 10
    folder = tmp_path / "runs" / "verify-smoke"
    for name in ("report.html", "verdicts.json", "verdicts.csv", "verdicts.tex"):
        assert (folder / name).is_file() and f"runs/verify-smoke/{name}" in output
    assert cli.main(["verify", "--no-progress"]) == 0
    assert "there already" in capsys.readouterr().out


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_is_cut_or_left_out_at_any_width(plan, width, monkeypatch, capsys):
    monkeypatch.setattr("tangentlab.cli.show._WIDE", width)
    plan(toss("D1", "D47"), toss("D2", mean=-1.0, seeds=3))
    assert cli.main(["verify", "--no-progress"]) == 0
    output = capsys.readouterr().out
    table, _ = output.split(" 1 confirmed, 1 refuted")
    assert max(map(len, table.splitlines()[2:])) <= width and "…" not in table
    unbroken = re.sub(r"\s", "", table)
    for entry in CATALOG.values():
        assert entry.id in unbroken
        if width == 80:  # in a table, columns lie side by side
            assert entry.published.replace(" ", "") in unbroken
            if entry.id not in ("D1", "D2", "D47"):  # these say their own
                assert entry.criterion.replace(" ", "") in unbroken
    if width == 80:
        assert "verdict ✗ refuted seeds 3 time" in words(table)


def test_a_claim_that_was_not_measured_shows_what_it_would_be_held_against(
    plan, capsys
):
    plan(toss("D1"))
    assert cli.main(["verify", "--claim", "D8", "--no-progress"]) == 1
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "D8 " in line)
    assert "MLP 67.6 %" in row and "published value" in row


def test_a_failed_run_ends_with_1_and_the_others_are_verified(plan, capsys):
    plan(toss("D1", trouble="run"), toss("D2"))
    assert cli.main(["verify", "--no-progress", "--output", "here"]) == 1
    output = capsys.readouterr().out
    assert "FAILED, ValueError: The coin rolled <away>." in output
    assert " planned and not measured: D1 (MLP on coins" in output
    assert "1 confirmed" in output


def test_single_claims_are_verified(plan, capsys):
    plan(toss("D1"), toss("D2", mean=2.0))
    assert cli.main(["verify", "--claim", "D2", "--no-progress"]) == 0
    output = capsys.readouterr().out
    assert "[1/1]" in output and "D3" not in output
    assert "✓ confirmed" in output


def test_what_does_not_fit_the_time_is_left_out(plan, capsys):
    plan(toss("D1")._replace(seconds=500), toss("D2", model="lenet"))
    assert cli.main(["verify", "--minutes", "1", "--no-progress"]) == 1
    output = capsys.readouterr().out
    assert "[1/2] toss, MLP on coins: not begun, it takes about 500 s" in output
    assert "D2 confirmed" in output
    assert cli.main(["verify", "--only", "lenet", "--no-progress"]) == 0
    assert "[1/1] toss, LeNet on coins" in capsys.readouterr().out


def test_part_of_a_claim_is_not_printed_as_confirmed(plan, capsys):
    runs = toss("D1"), toss("D1", model="lenet")
    plan(*runs)
    options = ["verify", "--claim", "D1", "--no-progress"]
    assert cli.main([*options, "--only", "lenet"]) == 0
    output = words(capsys.readouterr().out)
    assert "(✓) inconclusive" in output and "✓ confirmed" not in output
    assert "0 confirmed, 0 refuted, 1 inconclusive" in output
    assert cli.main(options) == 0
    assert "✓ confirmed" in capsys.readouterr().out
    plan(*runs, networks=("mlp", "resnet18"))
    assert cli.main(options) == 0
    assert "(✓) inconclusive" in capsys.readouterr().out


def test_a_claim_that_this_scale_does_not_measure_ends_with_1(
    plan, monkeypatch, capsys
):
    monkeypatch.setattr("tangentlab.cli.show._WIDE", 80)  # no columns side by side
    plan(toss("D1"))
    assert cli.main(["verify", "--claim", "D7", "--no-progress"]) == 1
    assert "not measured at this scale, but at laptop" in words(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["--claim", "D99"], 1, "Unknown claim 'D99'. Known: D1, D10, D11"),
        (["--scale", "huge"], 2, "smoke"),
        (["--claims", "D1"], 2, "`tangentlab verify` has the options"),
    ],
)
def test_what_is_not_known_is_refused(plan, tmp_path, args, status, message, capsys):
    plan(toss("D1"))
    assert cli.main(["verify", *args]) == status
    assert message in words(capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


def test_help_tells_the_scales_and_the_exit_status(capsys):
    assert cli.main(["verify", "--help"]) == 0
    text = words(re.sub(r"[─│╭╮╰╯]", " ", capsys.readouterr().out))
    for part in ("--scale {smoke,laptop,gpu}", "--claim", "--output", "exit status"):
        assert part in text
    assert "--cluster" in text and "They see OUTPUT too" in text
