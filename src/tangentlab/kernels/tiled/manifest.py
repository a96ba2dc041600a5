"""What a folder of tiles holds: written once, before the first tile.

The plan is in it, because a tile's last bits depend on how the sums were cut: a folder
is finished by the plan it was begun with, whatever memory there is by then.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._aside import write_once
from .tiles import Grid

NAME = "manifest.json"
_FORMAT, _VERSION = "tangentlab tiles", 1
_DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Manifest:
    """What a folder of tiles holds.

    Attributes:
        shape: Rows and columns of the Gram matrix.
        symmetric: Whether the tiles of the lower triangle alone are there.
        dtype: Of its entries.
        precision: As asked for.
        backend: `cpu` or `gpu`.
        fingerprint: Hashes of the network, its parameters and the samples.
        made_by: Versions of the libraries that began it.
        plan: How it is computed, as JSON; see `written_plan.py`.
    """

    shape: tuple[int, int]
    symmetric: bool
    dtype: str
    precision: str
    backend: str
    fingerprint: dict[str, str]
    made_by: dict[str, str]
    plan: dict[str, Any]

    @property
    def seal(self) -> str:
        """Hash of everything in the manifest."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(f"{_FORMAT} {_VERSION} {text}".encode()).hexdigest()

    def grid(self, folder: Path) -> Grid:
        """Where the tiles are.

        Args:
            folder: Their folder.

        Returns:
            The grid of tiles.
        """
        side, dtype = self.plan["panel"], np.dtype(self.dtype)
        return Grid(folder, self.seal, self.shape, self.symmetric, dtype, side)

    def write(self, folder: Path) -> None:
        """Write the manifest, unless there is one: another process may be faster.

        Args:
            folder: The folder of tiles.
        """
        head = {"format": _FORMAT, "version": _VERSION}
        content = {**head, **dataclasses.asdict(self), "checksum": self.seal}
        write_once(folder / NAME, (json.dumps(content, indent=1) + "\n").encode())


def check_there(folder: Path) -> None:
    """Refuse a folder without a Gram matrix.

    Args:
        folder: The folder.

    Raises:
        FileNotFoundError: If it is not there, or nothing was begun in it.
    """
    if (folder / NAME).is_file():
        return
    what = f"there is no {NAME} in it" if folder.is_dir() else "it does not exist"
    raise FileNotFoundError(
        f"{folder} holds no Gram matrix: {what}. Pass the folder that was given as "
        "`store` (`--store` on the command line); a computation that was started just "
        "now writes there in a moment."
    )


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder.

    Args:
        folder: The folder of tiles.

    Returns:
        The manifest.

    Raises:
        ValueError: If it is damaged, a link, or written by another version of
            tangentlab.
    """
    path = folder / NAME
    if path.is_symlink():
        raise ValueError(
            f"{path} is a link to elsewhere, which is not followed: put the file "
            "itself there, or choose another folder."
        )
    try:
        content = json.loads(path.read_bytes())
        form, version = content.pop("format"), content.pop("version")
        checksum = content.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(_damaged(path)) from error
    if (form, version) != (_FORMAT, _VERSION):
        raise ValueError(
            f"{path} says {form!r}, version {version!r}, but this tangentlab reads "
            f"{_FORMAT!r}, version {_VERSION}: use the one that wrote it, or choose "
            "another folder."
        )
    try:
        content["shape"] = tuple(content["shape"])
        manifest = Manifest(**content)
        sound = manifest.seal == checksum and manifest.dtype in _DTYPES
    except (TypeError, KeyError) as error:
        raise ValueError(_damaged(path)) from error
    if not sound:
        raise ValueError(_damaged(path))
    return manifest


def _damaged(path: Path) -> str:
    return (
        f"{path} is damaged: it is not as it was written. Restore it, or delete the "
        "folder and compute again: without it nobody knows what the tiles are."
    )


def check_same(found: Manifest, wanted: Manifest, folder: Path) -> None:
    """Refuse a folder that belongs to another computation.

    Args:
        found: What the folder holds.
        wanted: What is asked for.
        folder: The folder.

    Raises:
        ValueError: If they differ; says in what.
    """
    differences = _plain_differences(found, wanted)
    if found.precision == wanted.precision:  # which changes everything else with it
        differences += _hash_differences(found, wanted)
    if differences:
        raise ValueError(
            f"{folder} holds another Gram matrix than the one asked for: "
            f"{'; '.join(differences)}. Choose another folder as `store`, or call with "
            "what this one was made of."
        )


def _plain_differences(found: Manifest, wanted: Manifest) -> list[str]:
    names = {"shape": "its shape", "precision": "`precision`", "backend": "its device"}
    pairs = {name: (getattr(found, name), getattr(wanted, name)) for name in names}
    return [
        f"{names[name]} is {there!r}, asked for is {here!r}"
        for name, (there, here) in pairs.items()
        if there != here
    ]


def _hash_differences(found: Manifest, wanted: Manifest) -> list[str]:
    differ = [
        name
        for name, value in wanted.fingerprint.items()
        if found.fingerprint.get(name) != value
    ]
    told = [f"`{name}` is not the same" for name in differ if name != "network"]
    # Of a network the derivative is hashed, by the leaves that are trained.
    if "network" in differ and "trainable" not in differ:
        text = "the network is not the same (`apply` or `outputs`)"
        if found.made_by != wanted.made_by:
            text += f", or reads differently: it was begun with {found.made_by}"
        told.insert(0, text)
    return told
