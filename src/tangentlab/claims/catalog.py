"""Every claim that is looked at: who made it, what was published, and the criterion.

>>> len(CATALOG), CATALOG["D8"].published
(49, 'MLP 67.6 %, LeNet 75.0 %, ResNet18 81.4 %')
"""

from .entries import Entry
from .lecture_claims import LECTURE_CLAIMS
from .own_questions import OWN_QUESTIONS
from .paper_claims import PAPER_CLAIMS

_CLAIMED = sorted([*PAPER_CLAIMS, *LECTURE_CLAIMS], key=lambda each: int(each.id[1:]))

CATALOG: dict[str, Entry] = {entry.id: entry for entry in (*_CLAIMED, *OWN_QUESTIONS)}
"""D1 to D48 and E12, by id, in order."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Claims of the paper": tuple(entry.id for entry in PAPER_CLAIMS),
    "Claims of two lectures": tuple(entry.id for entry in LECTURE_CLAIMS),
    "A question of our own": tuple(entry.id for entry in OWN_QUESTIONS),
}
"""Which claims came from where."""
