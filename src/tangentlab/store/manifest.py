"""Where a run came from: versions, devices, git revision, times, command."""

import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from .. import __version__

PACKAGES = "jax jaxlib numpy scipy equinox optax flax".split()
_PACKAGE_FOLDER = Path(__file__).resolve().parent.parent


def start_manifest(command: str) -> dict[str, Any]:
    """Record everything known when a run starts.

    Args:
        command: The command line, as one would type it again.

    Returns:
        The manifest; `ended` and `wall_seconds` are None until the run ends. A run that
        was interrupted counts the seconds of all its attempts.
    """
    return {
        "tangentlab": __version__,
        "command": command,
        "started": now().isoformat(timespec="seconds"),
        "ended": None,
        "wall_seconds": None,
        "python": platform.python_version(),
        "versions": {name: installed_version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "backend": jax.default_backend(),
        "devices": [device.device_kind for device in jax.devices()],
        "git": git_state(_PACKAGE_FOLDER),
    }


def now() -> datetime:
    """The time in UTC.

    Returns:
        An aware datetime.
    """
    return datetime.now(UTC)


def installed_version(name: str) -> str | None:
    """Version of an installed distribution.

    Args:
        name: Its name on the package index.

    Returns:
        The version, or None if it is not installed.
    """
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def git_state(package: Path) -> dict[str, Any] | None:
    """Revision of the checkout that a package is imported from.

    Args:
        package: Folder of the package, `CHECKOUT/src/NAME`.

    Returns:
        `{"revision", "dirty"}`, or None where the package is not in a checkout of its
        own (installed from a wheel, even below somebody else's repository) or there
        is no git.
    """
    checkout = package.parent.parent
    if package.parent.name != "src" or not (checkout / ".git").exists():
        return None
    revision = _git(checkout, "rev-parse", "HEAD")
    status = _git(checkout, "status", "--porcelain")
    if revision is None or status is None:
        return None
    return {"revision": revision, "dirty": bool(status)}


def _git(checkout: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(checkout), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
