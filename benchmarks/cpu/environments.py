"""A virtual environment for each peer, made once and kept in the cache."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Recipe:
    """How to install a peer.

    Attributes:
        packages: Requirements, installed together with what they need.
        alone: Requirements installed without what they ask for.
        module: Must import at the end.
    """

    packages: tuple[str, ...]
    alone: tuple[str, ...]
    module: str


# neural-tangents 0.6.5 imports TensorFlow and tf2jax. The CPU build of TensorFlow will
# do, but does not satisfy the requirement by name, hence both `alone`. nngeometry asks
# for torchvision, which it does not import, and must not replace the pinned PyTorch.
RECIPES = {
    "neural-tangents": Recipe(
        (
            "jax==0.4.25",
            "jaxlib==0.4.25",
            "numpy<2",
            "scipy<1.13",
            "tensorflow-cpu==2.16.2",
            "frozendict",
            "dm-tree",
        ),
        ("neural-tangents==0.6.5", "tf2jax==0.3.6"),
        "neural_tangents",
    ),
    "torch": Recipe(("torch==2.13.0", "numpy"), ("nngeometry==0.4",), "nngeometry"),
}


class NoEnvironmentError(Exception):
    """The environment of a peer cannot be made here; the message says why."""


def interpreter(name: str, cache: Path, python: str) -> Path:
    """Return the Python of an environment, making it where it is missing or outdated.

    Args:
        name: `"ours"` for this very environment, or a name of `RECIPES`.
        cache: Folder that holds the environments.
        python: Command of a Python 3.11, the newest that jax 0.4.25 runs on here.

    Raises:
        NoEnvironmentError: If there is no such Python or an installation fails.
    """
    if name == "ours":
        return Path(sys.executable)
    recipe = RECIPES[name]
    folder = cache / "envs" / name
    binary = folder / "bin" / "python"
    stamp = folder / "recipe.json"
    wanted = json.dumps([*recipe.packages, *recipe.alone])
    if stamp.exists() and stamp.read_text() == wanted:
        return binary
    found = shutil.which(python)
    if found is None:
        raise NoEnvironmentError(
            f"{name} needs Python 3.11, and there is no `{python}` here: install one "
            "or name it with --python."
        )
    print(f"Installing {name} into {folder}", flush=True)
    _run(name, [found, "-m", "venv", "--clear", str(folder)])
    install = [str(binary), "-m", "pip", "install", "--quiet"]
    _run(name, [*install, *recipe.packages])
    _run(name, [*install, "--no-deps", *recipe.alone])
    _run(name, [str(binary), "-c", f"import {recipe.module}"])
    stamp.write_text(wanted)
    return binary


def _run(name: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoEnvironmentError(
            f"{name} could not be installed: `{' '.join(command)}` failed with\n"
            + done.stderr[-2000:]
        )
