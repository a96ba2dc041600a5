"""Tables that a benchmark writes into a page, between two markers."""

from pathlib import Path


def write_section(page: Path, name: str, text: str) -> None:
    """Replace a section of a page, or append it.

    Args:
        page: The page, in Markdown.
        name: Name of the section, in its markers.
        text: What is between them.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = f"{begin}\n{text}\n{end}"
    old = page.read_text() if page.exists() else ""
    if begin in old and end in old:
        before, rest = old.split(begin, 1)
        page.write_text(before + section + rest.split(end, 1)[1])
    else:
        page.write_text(f"{old.rstrip()}\n\n{section}\n".lstrip())
