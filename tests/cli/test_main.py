import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tangentlab
from tangentlab import cli, experiments, store
from tests.toy_experiment import CONFIGS, EXPERIMENTS, Walk

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Offer the toy experiment beside the real ones, in an empty working folder."""
    known = {**experiments.EXPERIMENTS, **EXPERIMENTS}
    monkeypatch.setattr(experiments, "EXPERIMENTS", known)
    monkeypatch.setattr(experiments, "DEMO", Walk(seed=1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TANGENTLAB_DEBUG", raising=False)
    return tmp_path


def words(text: str) -> str:
    """Text without box drawing and line breaks."""
    return " ".join(re.sub(r"[─│╭╮╰╯•]", " ", text).split())


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"tangentlab {tangentlab.__version__}\n"


def test_alone_it_prints_help(capsys):
    assert cli.main([]) == 0
    alone = capsys.readouterr().out
    assert cli.main(["--help"]) == 0
    assert capsys.readouterr().out == alone
    for command in ("demo", "run", "report", "data", "doctor", "--version", "--debug"):
        assert command in alone


@pytest.mark.parametrize("name", [*experiments.EXPERIMENTS, "walk"])
def test_the_help_of_an_experiment_has_every_field_and_its_comment(toy, name, capsys):
    assert cli.main(["run", name, "--help"]) == 0
    text = words(capsys.readouterr().out)
    for option in ("--output", "--no-progress", *options(known_config(name))):
        assert f"{option} " in text, option
    if name == "walk":
        assert "Walk at random and look where that leads." in text
        assert "Number of steps of each walk. (default: 4 9)" in text
        assert "Length of a step. (default: 0.5)" in text
        assert "Folder that holds the runs. (default: runs)" in text


def known_config(name: str) -> type:
    return experiments.EXPERIMENTS[name].config


def options(config: type, prefix: str = "--") -> list[str]:
    names = []
    for field in dataclasses.fields(config):
        name = prefix + field.name.replace("_", "-")
        if dataclasses.is_dataclass(field.default):
            names += options(type(field.default), f"{name}.")
        else:
            names.append(name)
    return names


def test_a_run_prints_its_table_and_files(toy, capsys):
    assert cli.main(["run", "walk", "--lengths", "5", "--step.size", "2"]) == 0
    output = capsys.readouterr().out
    (path,) = (toy / "runs").iterdir()
    run = store.open_run(path, CONFIGS)
    assert run.config == Walk(
        lengths=(5,), step=dataclasses.replace(Walk().step, size=2)
    )
    assert run.manifest["command"] == "tangentlab run walk --lengths 5 --step.size 2"
    end = f"{run.metrics()[0]['end']:.2f}".replace("-", "−")
    assert re.search(rf"steps +end +\n.*\n +5 +{end} ", output)
    assert "They wander." in output
    for line in (
        f" run     runs/{path.name}",
        f" figure  runs/{path.name}/figures/walks.png",
        f" report  runs/{path.name}/report.html",
    ):
        assert f"{line}\n" in output
        assert (toy / line.split()[1]).exists()


def test_a_narrow_pipe_loses_no_path_and_no_column(toy, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    deep = toy / ("long-" * 30)
    assert cli.main(["run", "walk", "--output", str(deep)]) == 0
    output = capsys.readouterr().out
    (path,) = deep.iterdir()
    assert f" report  {path}/report.html\n" in output


def test_the_demo_runs_the_demo_config(toy, capsys):
    assert cli.main(["demo", "--output", "elsewhere", "--no-progress"]) == 0
    (path,) = (toy / "elsewhere").iterdir()
    assert store.open_run(path, CONFIGS).config == Walk(seed=1)
    assert "They wander." in capsys.readouterr().out


def test_a_report_is_drawn_again(toy, capsys):
    cli.main(["run", "walk"])
    first = capsys.readouterr().out
    (path,) = (toy / "runs").iterdir()
    (path / "report.html").unlink()
    assert cli.main(["report", f"runs/{path.name}"]) == 0
    assert capsys.readouterr().out == first
    assert (path / "report.html").is_file()


@pytest.mark.parametrize(
    ("args", "messages"),
    [
        (["rum"], ["rum", "demo, run, report, data, doctor"]),
        (["run"], ["eigenfunctions", "walk"]),
        (["run", "wakl"], ["wakl", "eigenfunctions, walk"]),
        (
            ["run", "walk", "--seeed", "1"],
            ["--seeed", "Perhaps you meant", "--seed INT"],
        ),
        (["run", "walk", "--seed", "one"], ["--seed", "one"]),
        (["run", "walk", "--kind", "odd"], ["odd", "plain", "broken"]),
        (["data", "fetch", "mnits"], ["mnits", "digits", "cifar10", "fashion_mnist"]),
        (["data"], ["fetch, list"]),
        (["report"], ["The run folder. (required)"]),
        (["doctor", "--fast"], ["--fast"]),
    ],
)
def test_words_that_mean_nothing_list_those_that_do(toy, args, messages, capsys):
    assert cli.main(args) == 2
    output = capsys.readouterr()
    assert output.out == ""
    for message in messages:
        assert message in words(output.err)
    assert not list(toy.iterdir())


def test_expected_errors_are_one_line_without_traceback(toy, capsys):
    assert cli.main(["report", "nowhere"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "tangentlab: error: There is no run folder nowhere. `tangentlab run` prints "
        "the folder it writes.\n"
    )


def test_a_failed_run_says_where_it_is_kept(toy, capsys, caplog):
    assert cli.main(["run", "walk", "--kind", "broken"]) == 1
    (kept,) = (toy / "runs").iterdir()
    assert capsys.readouterr().err == (
        "tangentlab: error: The walk broke off.\n"
        f"The unfinished run is kept in runs/{kept.name}\n"
    )


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


def test_data_list_says_where_each_data_set_is(toy, monkeypatch, capsys):
    monkeypatch.setenv("TANGENTLAB_DATA", str(toy))
    monkeypatch.setenv("XDG_CACHE_HOME", str(toy))
    assert cli.main(["data", "list"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"digits +\S+digits.npz", output)
    assert re.search(r"mnist +not here: tangentlab data fetch mnist\b", output)


def test_fetching_the_embedded_data_prints_its_folder(toy, capsys):
    assert cli.main(["data", "fetch", "digits"]) == 0
    folder = capsys.readouterr().out.removesuffix("\n")
    assert (Path(folder) / "digits.npz").is_file()


INTERRUPTED = """
import sys, time
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
    _, err = process.communicate(timeout=30)
    (kept,) = tmp_path.iterdir()
    assert process.returncode == 130
    assert err.endswith(
        f"tangentlab: interrupted\nThe unfinished run is kept in {kept}\n"
    )
    assert "Traceback" not in err


def test_the_installed_command_is_this_one():
    script = Path(sys.executable).with_name("tangentlab")
    result = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert result.stdout == f"tangentlab {tangentlab.__version__}\n"
    assert result.returncode == 0


def test_importing_the_library_does_not_import_the_command_line():
    code = (
        "import sys, tangentlab; "
        "heavy = {'tyro', 'rich', 'matplotlib', 'plotly', 'flax', 'haiku'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": ""}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.stdout == "[]\n", result.stderr
