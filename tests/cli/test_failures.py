import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tangentlab import cli, experiments
from tests.toy_experiment import EXPERIMENTS

REPOSITORY = Path(__file__).parent.parent.parent


def test_expected_errors_are_one_line_without_traceback(toy, capsys):
    assert cli.main(["report", "nowhere"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "tangentlab: error: There is no run folder nowhere. `tangentlab run` prints "
        "the folder it writes.\n"
    )


@pytest.mark.parametrize("columns", ["30", "80"])
def test_values_that_a_config_refuses_are_one_clear_line(
    toy, columns, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", columns)
    assert cli.main(["run", "eigenfunctions", "--recipe.momentum", "2"]) == 2
    assert capsys.readouterr().err == (
        "tangentlab: error: Error parsing recipe: `momentum` must lie in [0, 1), got "
        "2.0.\nSee `tangentlab run eigenfunctions --help`.\n"
    )
    assert os.environ["COLUMNS"] == columns


def kept_in(folder: Path) -> str:
    return (
        f"The unfinished run is kept in {folder}; the same command with --resume goes "
        "on from there."
    )


BROKEN = """
import sys
from tangentlab import cli, experiments
from tests.toy_experiment import EXPERIMENTS

experiments.EXPERIMENTS = EXPERIMENTS
sys.exit(cli.main(["run", "walk", "--kind", "broken", "--output", sys.argv[1]]))
"""


def test_a_failed_run_says_once_where_it_is_kept(tmp_path):
    # A process of its own: under pytest no log record reaches standard error.
    command = [sys.executable, "-c", BROKEN, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    (kept,) = tmp_path.iterdir()
    assert result.returncode == 1
    assert result.stderr.endswith(
        f"tangentlab: error: The walk broke off.\n{kept_in(kept)}\n"
    )
    assert result.stderr.count("unfinished run") == 1


def test_a_run_that_begins_anew_names_the_unfinished_one(toy, capsys):
    words = ["run", "walk", "--kind", "broken", "--no-progress"]
    assert cli.main(words) == 1
    assert "would go on" not in capsys.readouterr().out
    (kept,) = Path("runs").iterdir()
    assert cli.main(words) == 1
    assert capsys.readouterr().out == (
        f"An unfinished run with these options is in {kept}: --resume would go on with "
        "it.\n"
    )
    for other in (["--resume"], ["--seed", "1"]):
        assert cli.main([*words, *other]) == 1
        assert capsys.readouterr().out == ""


def test_a_typo_leaves_no_partial_run(toy, capsys):
    assert cli.main(["run", "eigenfunctions", "--data", "digit"]) == 1
    assert "Unknown data set 'digit'" in capsys.readouterr().err
    assert list((toy / "runs").iterdir()) == []


def without_command(text: str) -> str:
    return re.sub(r'"command": ".*",', "", text)


DAMAGES = {
    "no manifest": ("manifest.json", None, "has no manifest.json"),
    "empty manifest": ("manifest.json", lambda _: "", "manifest.json, line 1: not val"),
    "no command": ("manifest.json", without_command, "does not say by which `command`"),
    "no metrics": ("metrics.jsonl", None, "has no metrics.jsonl"),
    "empty metrics": ("metrics.jsonl", lambda _: "", "metrics.jsonl is empty"),
    "other metrics": ("metrics.jsonl", lambda _: "{}", "cannot be drawn.*KeyError"),
    "no arrays": ("walk-4.npz", None, "has no arrays 'walk-4'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_one_clear_line(toy, capsys, name):
    cli.main(["run", "walk"])
    capsys.readouterr()
    (path,) = (toy / "runs").iterdir()
    file, change, message = DAMAGES[name]
    if change is None:
        (path / file).unlink()
    else:
        (path / file).write_text(change((path / file).read_text()))
    assert cli.main(["report", f"runs/{path.name}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("tangentlab: error: ") and error.count("\n") == 1
    assert re.search(message, error)
    assert f"runs/{path.name}" in error


def test_debug_shows_the_traceback(toy, monkeypatch):
    for args in (["--debug", "report", "nowhere"], ["report", "nowhere", "--debug"]):
        with pytest.raises(FileNotFoundError, match="no run folder nowhere"):
            cli.main(args)
    monkeypatch.setenv("TANGENTLAB_DEBUG", "1")
    with pytest.raises(FileNotFoundError, match="no run folder nowhere"):
        cli.main(["report", "nowhere"])


def test_an_error_of_ours_keeps_its_traceback(toy, monkeypatch):
    def stumble(config, folder, *, progress):
        raise ZeroDivisionError

    broken = {"walk": EXPERIMENTS["walk"]._replace(run=stumble)}
    monkeypatch.setattr(experiments, "EXPERIMENTS", broken)
    with pytest.raises(ZeroDivisionError):
        cli.main(["run", "walk"])


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
from tangentlab import cli, experiments
from tests.toy_experiment import EXPERIMENTS

def wait(config, folder, *, progress):
    folder.log(started=True)
    time.sleep(60)

experiments.EXPERIMENTS = {"walk": EXPERIMENTS["walk"]._replace(run=wait)}
sys.exit(cli.main(["run", "walk", "--output", sys.argv[1]]))
"""


def test_ctrl_c_says_where_the_partial_run_is(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".*.partial/metrics.jsonl")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    (kept,) = tmp_path.iterdir()
    assert process.returncode == 130
    assert err.endswith(f"tangentlab: interrupted\n{kept_in(kept)}\n")
    assert "Traceback" not in err
