"""Find the files of a data set among the places where data may lie."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .._checks import check_known
from .catalog import CATALOG, EMBEDDED, Entry, Layout
from .places import Place, search_places

EMBEDDED_FILE = Path(__file__).with_name("digits.npz")


@dataclass(frozen=True)
class Found:
    """The complete files of a data set on this machine.

    Attributes:
        entry: The data set.
        layout: How the files lie.
        files: One path for each member of the layout, or the one archive.
    """

    entry: Entry
    layout: Layout
    files: tuple[Path, ...]

    @property
    def path(self) -> Path:
        """The archive, or the folder that holds the files."""
        return self.files[0] if self.layout.archive else self.files[0].parent


class Availability(NamedTuple):
    """Whether a data set can be loaded here.

    Attributes:
        name: Name of the data set.
        path: The folder or archive it would be read from; `None` if there is none.
        hint: What is missing and how to get it; empty if nothing is.
    """

    name: str
    path: Path | None
    hint: str


class Incomplete(NamedTuple):
    """Some of the files of a data set, but not all.

    Attributes:
        folder: Where they lie.
        missing: The members that are not there.
    """

    folder: Path
    missing: tuple[str, ...]


def find(entry: Entry, directory: str | os.PathLike[str] | None = None) -> Found:
    """Find the files of a data set.

    Args:
        entry: The data set.
        directory: A folder to search before `$TANGENTLAB_DATA` and the user's cache.

    Returns:
        The first complete set of files.

    Raises:
        FileNotFoundError: If there is none, with the places searched and what to put
            where; also if the first place that has some of the files lacks others.
    """
    places = search_places(directory)
    for place in places:
        result = look_in(entry, place)
        if isinstance(result, Found):
            return result
        if result is not None:
            raise FileNotFoundError(_incomplete_message(entry, result))
    raise FileNotFoundError(_missing_message(entry, places))


def look_in(entry: Entry, place: Place) -> Found | Incomplete | None:
    """Look for a data set in one place.

    Args:
        entry: The data set.
        place: The folder.

    Returns:
        The files of the first complete layout; else what an incomplete one lacks; else
        `None`.
    """
    incomplete = None
    for layout in entry.layouts:
        if layout.explicit_only and not place.explicit:
            continue
        result = _look_for(entry, layout, place.path)
        if isinstance(result, Found):
            return result
        incomplete = incomplete or result
    return incomplete


def available(
    directory: str | os.PathLike[str] | None = None,
) -> tuple[Availability, ...]:
    """Say which of the known data sets can be loaded here, reading none of them.

    Args:
        directory: A folder to search before `$TANGENTLAB_DATA` and the user's cache.

    Returns:
        One record for each known data set.
    """
    records = [Availability(EMBEDDED, EMBEDDED_FILE, "")]
    for entry in CATALOG.values():
        try:
            found = find(entry, directory)
        except FileNotFoundError as error:
            records.append(Availability(entry.name, None, str(error)))
        else:
            records.append(Availability(entry.name, found.path, ""))
    return tuple(records)


def known_entry(name: str) -> Entry | None:
    """Look a data set up in the catalog.

    Args:
        name: Name of a data set.

    Returns:
        Its entry, or `None` for the embedded one, which has no files to look for.
    """
    check_known("data set", name, [*CATALOG, EMBEDDED])
    return CATALOG.get(name)


def put_by_hand(entry: Entry, folder: Path) -> str:
    """Describe which files to put where, one line each, with their addresses.

    Args:
        entry: The data set.
        folder: The data folder to put them into.

    Returns:
        Indented lines.
    """
    lines = []
    for file in entry.remote:
        lines.append(f"  {folder / file.path}")
        lines += [f"    from {url}" for url in file.urls]
    return "\n".join(lines)


def _look_for(entry: Entry, layout: Layout, place: Path) -> Found | Incomplete | None:
    # Look for one layout in one place; `None` where there is no trace of it.
    folder = place / layout.folder
    if layout.archive:
        archive = folder / layout.archive
        return Found(entry, layout, (archive,)) if archive.is_file() else None
    endings = ("", ".gz") if layout.gzipped else ("",)
    candidates = {
        member: [folder / (member + ending) for ending in endings]
        for member in layout.members
    }
    present = {
        member: next((path for path in paths if path.is_file()), None)
        for member, paths in candidates.items()
    }
    files = tuple(path for path in present.values() if path is not None)
    if len(files) == len(layout.members):
        return Found(entry, layout, files)
    missing = tuple(member for member, path in present.items() if path is None)
    return Incomplete(folder, missing) if files else None


def _incomplete_message(entry: Entry, incomplete: Incomplete) -> str:
    return (
        f"{entry.name} is incomplete: {incomplete.folder} lacks "
        f"{', '.join(incomplete.missing)}. Add what is missing, or remove the rest "
        f"and run `tangentlab data fetch {entry.name}`."
    )


def _missing_message(entry: Entry, places: list[Place]) -> str:
    searched = [
        f"  {place.path} ({place.origin})"
        + ("" if place.path.is_dir() else ": no such folder")
        for place in places
    ]
    others = sorted(
        {
            layout.archive or f"{layout.folder}/"
            for layout in entry.layouts
            if layout.archive or layout.folder
        }
        - {file.path for file in entry.remote}
    )
    return (
        f"{entry.name} was not found. Searched:\n"
        + "\n".join(searched)
        + f"\nRun `tangentlab data fetch {entry.name}`, or put there by hand:\n"
        + put_by_hand(entry, places[0].path)
        + f"\nAlso read, if you have it: {', '.join(others)}."
    )
