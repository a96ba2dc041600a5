"""What a claim of the catalog is."""

from typing import NamedTuple

from ..models import ModelName

PAPER = "the paper"
SUPPLEMENT = "the paper's supplement"
TALK = "the authors' talk"
UBC = "the UBC lecture (CPSC 532S, March 2022)"
CENTRALE = "the CentraleSupelec lecture (class 5, January 2025)"


class Entry(NamedTuple):
    """A claim before anything is measured.

    Attributes:
        id: Short name, such as `D1`.
        statement: What is claimed, in a line.
        source: Who claims it, in words.
        published: What was published of it: numbers where there are some.
        criterion: When it counts as confirmed. A run may say it more exactly, or
            differ; its own words are then shown.
        judged: False for what is recorded and is no claim.
        networks: Those that its source names or shows it for, so that it is confirmed
            by nothing less than all of them; empty where none is named.
    """

    id: str
    statement: str
    source: str
    published: str
    criterion: str
    judged: bool = True
    networks: tuple[ModelName, ...] = ()
