"""Comments of fields become help that wraps where the terminal ends."""

from dataclasses import dataclass, field, fields
from typing import Annotated, get_type_hints

import pytest

from tangentlab.cli.commands import Verify
from tangentlab.cli.gram import RunGram
from tangentlab.cli.helps import as_written, rewrapped
from tangentlab.experiments import EXPERIMENTS

KINDS = [Verify, RunGram, *(each.config for each in EXPERIMENTS.values())]


@dataclass(frozen=True)
class Inner:
    """Inside."""

    size: int = 3
    """How large it is,
    in words that
    go on."""


@dataclass(frozen=True)
class Outer:
    """Outside."""

    name: str
    inner: Inner = Inner(4)
    """What is in it."""
    plain: float = 0.5
    several: list[int] = field(default_factory=lambda: [1], kw_only=True)


def annotations(hint):
    return getattr(hint, "__metadata__", ())


def helps(kind):
    hints = get_type_hints(kind, include_extras=True)
    return {
        each.name: [a.help for a in annotations(hints[each.name]) if a.help]
        for each in fields(kind)
    }


def test_comments_are_one_line_each():
    made = rewrapped(Outer)
    assert helps(made) == {
        "name": [],
        "inner": ["What is in it."],
        "plain": [],
        "several": [],
    }
    (inner,) = (f.default for f in fields(made) if f.name == "inner")
    assert helps(type(inner)) == {"size": ["How large it is, in words that go on."]}


def test_values_come_back_in_the_class_as_it_is_written():
    made = rewrapped(Outer)(name="a", plain=2.0)
    assert isinstance(made, Outer) and made != Outer("a", Inner(4), 2.0)
    assert as_written(made) == Outer("a", Inner(4), 2.0)
    assert as_written(Annotated) is Annotated


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_option_has_a_help_without_line_breaks(kind):
    for name, texts in helps(rewrapped(kind)).items():
        assert texts and not any("\n" in text for text in texts), name


@pytest.mark.parametrize(
    "kind",
    [each for each in KINDS if each is not RunGram],
    ids=lambda kind: kind.__name__,
)
def test_defaults_are_those_of_the_class(kind):
    assert as_written(rewrapped(kind)()) == kind()
