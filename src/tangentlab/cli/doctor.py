"""What this machine has, what is missing for what, and the command that gets it."""

import os
import platform
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import jax

from .. import __version__, data
from ..store.manifest import installed_version

_GIB = 1024**3
_MEMINFO = Path("/proc/meminfo")
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[.*?\])?\s*(?P<versions>[^;]*?)\s*"
    r"(;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"].*)?"
)

USES = {
    "haiku": "networks written in Haiku",
    "cluster": "Gram matrices by the workers of a Dask cluster, `cluster=`",
    "export": "Gram matrices as zarr arrays, `tl.to_zarr`",
    "pandas": "tables as data frames, `report.exporting.to_pandas`",
    "test": "running the tests, `make test`",
    "dev": "lint, formatting and types, `make check`",
}
"""What each extra of the package is for."""


class Fact(NamedTuple):
    """Something that is here.

    Attributes:
        name: What it is.
        value: Its version, size or place.
    """

    name: str
    value: str


class Missing(NamedTuple):
    """Something that is not here, or too old.

    Attributes:
        name: What it is.
        needed_for: What cannot be done without it.
        command: How to get it.
        required: Whether nothing works without it.
        instead: Another way to get it, if there is one.
    """

    name: str
    needed_for: str
    command: str
    required: bool = False
    instead: str = ""


class Diagnosis(NamedTuple):
    """Everything found.

    Attributes:
        facts: What is here, by group.
        missing: What is not.
    """

    facts: dict[str, list[Fact]]
    missing: list[Missing]


class Requirement(NamedTuple):
    """A package that this one declares.

    Attributes:
        name: Its name on the package index.
        versions: The versions asked for, such as `>=2.0`.
        extra: The extra that needs it; empty if every installation does.
    """

    name: str
    versions: str
    extra: str


def examine() -> Diagnosis:
    """Look at machine, devices, packages and data.

    Returns:
        What is here and what is missing.
    """
    diagnosis = Diagnosis({"Machine": _machine()}, [])
    _examine_devices(diagnosis)
    _examine_packages(diagnosis, declared_requirements())
    _examine_data(diagnosis)
    return diagnosis


def declared_requirements() -> list[Requirement]:
    """Packages that tangentlab declares, each once, with the smallest extra.

    Returns:
        The requirements; empty where tangentlab is imported without being installed.
    """
    try:
        lines = metadata.requires("tangentlab") or []
    except metadata.PackageNotFoundError:
        return []
    matches = [_REQUIREMENT.fullmatch(line) for line in lines]
    found = [
        Requirement(match["name"], match["versions"], match["extra"] or "")
        for match in matches
        if match is not None
    ]
    extras = [requirement.extra for requirement in found]
    found.sort(key=lambda r: (r.extra != "", extras.count(r.extra)))
    return list({r.name: r for r in reversed(found)}.values())[::-1]


def is_wanted(version: str, versions: str) -> bool:
    """Whether an installed version is among those asked for.

    Args:
        version: The version, such as `1.26.4`.
        versions: The versions asked for, such as `>=2.0`.

    Returns:
        False only if it is certain: `packaging` must be installed to compare them, and
        able to read both.
    """
    try:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet
        from packaging.version import InvalidVersion, Version
    except ImportError:
        return True
    try:
        return SpecifierSet(versions).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True


def memory(text: str) -> Fact:
    """Main memory of the host.

    Args:
        text: Content of `/proc/meminfo`; empty where there is none.

    Returns:
        Total, and what is available where the system tells.
    """
    sizes = {
        key: int(kib) * 1024 / _GIB
        for key, kib in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)
    }
    if {"MemTotal", "MemAvailable"} <= sizes.keys():
        total, free = sizes["MemTotal"], sizes["MemAvailable"]
        return Fact("memory", f"{total:.1f} GiB, {free:.1f} GiB available")
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    except (AttributeError, ValueError, OSError):  # not a Unix, or not told
        return Fact("memory", "unknown")
    return Fact("memory", f"{total:.1f} GiB")


def _machine() -> list[Fact]:
    text = _MEMINFO.read_text() if _MEMINFO.is_file() else ""
    return [
        Fact("system", platform.platform()),
        Fact("processors", str(os.cpu_count())),
        memory(text),
        Fact("python", platform.python_version()),
        Fact("tangentlab", __version__),
    ]


def _examine_devices(diagnosis: Diagnosis) -> None:
    try:
        devices, backend = jax.devices(), jax.default_backend()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        diagnosis.facts["Devices"] = [Fact("none", reason)]
        diagnosis.missing.append(
            Missing("a JAX device", "everything", "unset JAX_PLATFORMS", required=True)
        )
        return
    facts = [Fact("backend", backend)]
    for device in devices:
        limit = (device.memory_stats() or {}).get("bytes_limit")
        size = f", {limit / _GIB:.1f} GiB for JAX" if limit else ""
        facts.append(Fact(f"device {device.id}", device.device_kind + size))
    diagnosis.facts["Devices"] = facts
    if backend == "cpu" and shutil.which("nvidia-smi"):
        diagnosis.missing.append(
            Missing(
                "JAX for the NVIDIA GPU of this machine",
                "experiments at full size",
                "pip install -U 'jax[cuda]'",
            )
        )


def _examine_packages(diagnosis: Diagnosis, requirements: list[Requirement]) -> None:
    for name, versions, extra in requirements:
        group = "Optional packages" if extra else "Packages"
        version = installed_version(name)
        wanted = name
        if version is not None:
            diagnosis.facts.setdefault(group, []).append(Fact(name, version))
            if is_wanted(version, versions):
                continue
            wanted = f"{name}{versions}, instead of {version}"
        use = USES.get(extra, f"the extra {extra}") if extra else "everything"
        command = f"pip install '{name}{versions}'"
        diagnosis.missing.append(Missing(wanted, use, command, required=not extra))


def _examine_data(diagnosis: Diagnosis) -> None:
    facts = []
    for name, path, _ in data.available():
        if path is not None:
            facts.append(Fact(name, str(path)))
            continue
        use = f"experiments with --data {name}"
        command = f"tangentlab data fetch {name}"
        by_hand = "put files there by hand: `tangentlab data list` says which and where"
        diagnosis.missing.append(Missing(name, use, command, instead=by_hand))
    diagnosis.facts["Data sets"] = facts
