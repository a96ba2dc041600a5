import dataclasses
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tangentlab
from tangentlab import cli, experiments, store
from tangentlab.analysis import Claim, Estimate, Finding
from tangentlab.data.catalog import CIFAR10
from tests.toy_experiment import CONFIGS, Walk


def words(text: str) -> str:
    """Text without box drawing and line breaks."""
    return " ".join(re.sub(r"[─│╭╮╰╯•]", " ", text).split())


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"tangentlab {tangentlab.__version__}\n"


def test_python_m_is_the_same_command(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["tangentlab", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tangentlab", run_name="__main__")
    assert not ended.value.code and tangentlab.__version__ in capsys.readouterr().out


def test_alone_it_prints_help(capsys):
    assert cli.main([]) == 0
    alone = capsys.readouterr().out
    assert cli.main(["--help"]) == 0
    assert capsys.readouterr().out == alone
    for command in "demo run verify report data doctor --version --debug".split():
        assert command in alone


@pytest.mark.parametrize("name", [*experiments.EXPERIMENTS, "walk"])
def test_the_help_of_an_experiment_has_every_field_and_its_comment(toy, name, capsys):
    assert cli.main(["run", name, "--help"]) == 0
    text = words(capsys.readouterr().out)
    for option in (
        "--output",
        "--no-progress",
        "--resume",
        *options(known_config(name)),
    ):
        assert re.search(rf"{option}[ ,]", text), option
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
        f" table   runs/{path.name}/results.csv",
        f" latex   runs/{path.name}/results.tex",
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
        (["rum"], ["rum", "demo, run, verify, report, data, "]),
        (["run"], ["eigenfunctions", "walk"]),
        (["run", "wakl"], ["wakl", "eigenfunctions, ", ", walk"]),
        (
            ["run", "walk", "--seeed", "1"],
            ["--seeed", "Perhaps you meant", "--seed INT"],
        ),
        (
            ["run", "walk", "--xyz"],
            [
                "`tangentlab run walk` has the options --help, --output, --progress, "
                "--no-progress, --resume, --no-resume, --cluster, --lengths, --kind, "
                "--start, --folder, --seed, --step.size. See `tangentlab run walk "
                "--help`.",
            ],
        ),
        (["run", "walk", "--seed", "one"], ["--seed", "one"]),
        (["run", "walk", "--kind", "odd"], ["odd", "plain", "broken"]),
        (["data", "fetch", "mnits"], ["mnits", "digits", "cifar10", "fashion_mnist"]),
        (["data", "verify", "mnits"], ["for argument 'name'. Expected one of ('digi"]),
        (["data"], ["fetch, verify, list"]),
        (["report"], ["The run folder. (required)"]),
        (["doctor", "--fast"], ["--fast", "See `tangentlab doctor --help`"]),
    ],
)
def test_words_that_mean_nothing_list_those_that_do(toy, args, messages, capsys):
    assert cli.main(args) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "dummy" not in output.err and "choice." not in output.err
    for message in messages:
        assert message in words(output.err)
    assert not list(toy.iterdir())


def test_data_list_says_where_each_data_set_is(toy, monkeypatch, capsys):
    monkeypatch.setenv("TANGENTLAB_DATA", str(toy))
    monkeypatch.setenv("XDG_CACHE_HOME", str(toy))
    assert cli.main(["data", "list"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"digits +\S+digits.npz", output)
    assert re.search(r"mnist +not here: tangentlab data fetch mnist\b", output)
    assert f"put there by hand:\n  {toy / 'cifar-10-binary.tar.gz'}\n" in output
    (toy / "cifar-10-batches-bin").mkdir()
    (toy / "cifar-10-batches-bin" / "test_batch.bin").touch()
    assert cli.main(["data", "list"]) == 0
    assert "cifar10 is incomplete: " in capsys.readouterr().out


def test_fetching_the_embedded_data_prints_its_folder(toy, capsys):
    assert cli.main(["data", "fetch", "digits"]) == 0
    folder = capsys.readouterr().out.removesuffix("\n")
    assert (Path(folder) / "digits.npz").is_file()


def test_data_sets_are_verified(toy, capsys):
    assert cli.main(["data", "verify", "digits"]) == 0
    output = capsys.readouterr().out
    assert re.fullmatch(r"digits: every checksum is right in \S+digits.npz\n", output)
    (toy / "cifar-10-batches-bin").mkdir()
    for name in CIFAR10.layouts[0].members:
        (toy / "cifar-10-batches-bin" / name).touch()
    assert cli.main(["data", "verify", "cifar10", "--directory", str(toy)]) == 1
    assert "data_batch_1.bin has a wrong checksum" in capsys.readouterr().err


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


def test_claims_are_printed_with_measure_criterion_and_verdict(
    toy, monkeypatch, capsys
):
    found = Estimate(-0.97, -0.99, -0.91, np.full(5, -0.97))
    claims = (
        Claim("D1", "It falls", "below 0", (Finding("walk", found),), "confirmed"),
        Claim("D2", "It leads", "above 0", (), "inconclusive", "too few"),
    )
    whole = experiments.EXPERIMENTS["walk"]

    def report(run):
        return dataclasses.replace(
            whole.report(run), claims=claims, claims_caption="Intervals over walks."
        )

    monkeypatch.setitem(experiments.EXPERIMENTS, "walk", whole._replace(report=report))
    assert cli.main(["run", "walk"]) == 0
    output = words(capsys.readouterr().out)
    assert (
        "✓ D1 It falls: confirmed walk −0.97 [−0.99, −0.91] criterion: below 0"
        in output
    )
    assert "? D2 It leads: inconclusive too few" in output
    assert "Intervals over walks." in output
