import re
import sys

import jax
import pytest

import tangentlab
from tangentlab import cli
from tangentlab.cli import doctor, show


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("TANGENTLAB_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_doctor_tells_what_is_here_and_what_is_missing(no_data, capsys):
    assert cli.main(["doctor"]) == 0
    output = capsys.readouterr().out
    for name, value in [
        ("tangentlab", tangentlab.__version__),
        ("backend", jax.default_backend()),
        ("device 0", jax.devices()[0].device_kind),
        ("jax", jax.__version__),
        ("digits", r"\S+digits.npz"),
        ("memory", r"\d+\.\d GiB"),
    ]:
        assert re.search(rf"^  {name} +{value}", output, re.MULTILINE), name
    assert (
        "  cifar10 (optional), for experiments with --data cifar10:\n"
        "    tangentlab data fetch cifar10\n"
        "    or put files there by hand: `tangentlab data list` says which and where\n"
    ) in output


def test_every_declared_package_is_listed_once_with_its_extra():
    requirements = doctor.declared_requirements()
    names = [requirement.name for requirement in requirements]
    assert len(names) == len(set(names))
    extras = {requirement.name: requirement.extra for requirement in requirements}
    assert extras["jax"] == extras["numpy"] == ""
    assert extras["dm-haiku"] == "haiku"
    assert extras["pytest"] == "test"
    assert extras["ruff"] == "dev"
    assert set(extras.values()) - {""} <= set(doctor.USES)
    versions = {requirement.name: requirement.versions for requirement in requirements}
    assert re.fullmatch(r">=[\d.]+", versions["numpy"])


def test_missing_packages_come_with_use_and_command(monkeypatch, capsys):
    monkeypatch.setattr(
        doctor,
        "declared_requirements",
        lambda: [
            doctor.Requirement("jax", ">=0.10", ""),
            doctor.Requirement("no-such-package", ">=1.0", "haiku"),
            doctor.Requirement("nothing-works-without", "", ""),
        ],
    )
    found = doctor.examine()
    assert doctor.Fact("jax", jax.__version__) in found.facts["Packages"]
    assert show.diagnosis(show.console(), found) == 1
    output = capsys.readouterr().out
    assert (
        "  no-such-package (optional), for networks written in Haiku:\n"
        "    pip install 'no-such-package>=1.0'\n"
    ) in output
    assert (
        "  nothing-works-without (required), for everything:\n"
        "    pip install 'nothing-works-without'\n"
    ) in output


def test_packages_that_are_too_old_are_reported(monkeypatch, capsys):
    monkeypatch.setattr(
        doctor,
        "declared_requirements",
        lambda: [
            doctor.Requirement("jax", ">=99", ""),
            doctor.Requirement("pytest", ">=98.5", "test"),
            doctor.Requirement("numpy", ">=2.0", ""),
        ],
    )
    found = doctor.examine()
    assert doctor.Fact("jax", jax.__version__) in found.facts["Packages"]
    assert "numpy" not in "".join(missing.name for missing in found.missing)
    assert show.diagnosis(show.console(), found) == 1
    output = capsys.readouterr().out
    assert (
        f"  jax>=99, instead of {jax.__version__} (required), for everything:\n"
        "    pip install 'jax>=99'\n"
    ) in output
    assert f"  pytest>=98.5, instead of {pytest.__version__} (optional)" in output


@pytest.mark.parametrize(
    ("version", "versions", "wanted"),
    [
        ("1.26.4", ">=2.0", False),
        ("2.10", ">=2.9", True),
        ("2.0rc1", ">=1.0", True),
        ("1.0", "", True),
        ("odd", ">=1.0", True),
        ("1.0", "odd", True),
    ],
)
def test_versions_are_compared_as_versions(version, versions, wanted):
    assert doctor.is_wanted(version, versions) == wanted


def test_without_packaging_no_version_is_blamed(monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.specifiers", None)
    assert doctor.is_wanted("1.0", ">=2.0")


def test_a_backend_that_does_not_start_is_reported(monkeypatch, capsys):
    def fail():
        raise RuntimeError("Unable to initialize backend 'cuda'\nmore")

    monkeypatch.setattr(jax, "devices", fail)
    assert cli.main(["doctor"]) == 1
    output = capsys.readouterr().out
    assert "none  Unable to initialize backend 'cuda'" in output
    assert "a JAX device (required), for everything:" in output


def test_an_unused_gpu_is_reported(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/usr/bin/{name}")
    commands = [missing.command for missing in doctor.examine().missing]
    expected = "pip install -U 'jax[cuda]'"
    assert (expected in commands) == (jax.default_backend() == "cpu")


def test_memory_is_read_where_the_system_tells():
    text = "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:   8388608 kB\n"
    fact = doctor.memory(text)
    assert fact == doctor.Fact("memory", "16.0 GiB, 8.0 GiB available")
    assert re.fullmatch(r"\d+\.\d GiB", doctor.memory("").value)


def test_nothing_missing_is_said(capsys):
    assert show.diagnosis(show.console(), doctor.Diagnosis({}, [])) == 0
    assert capsys.readouterr().out == "Nothing is missing\n"
