"""Comments of fields as help: wrapped where the terminal ends, not the source line."""

import ast
import dataclasses
import inspect
import textwrap
from functools import cache
from typing import Annotated, Any, get_type_hints

import tyro

_WRITTEN = "_as_written"


def rewrapped(kind: type) -> Any:
    """A dataclass that says the same of its fields, each in one line.

    The parser would keep the line breaks of the source, wherever a terminal wraps.

    Args:
        kind: A dataclass with comments below its fields, and others inside it.

    Returns:
        A dataclass that is one of these; `as_written` makes a plain one of it.
    """
    hints, comments = get_type_hints(kind, include_extras=True), dict[str, str]()
    for part in filter(dataclasses.is_dataclass, reversed(kind.__mro__)):
        comments |= _comments(part)
    fields = []
    for field in dataclasses.fields(kind):
        hint, default = hints[field.name], field.default
        if isinstance(hint, type) and isinstance(default, hint):
            if dataclasses.is_dataclass(hint):
                hint = rewrapped(hint)
                default = hint(**_values(default))
        if comment := comments.get(field.name):
            hint = Annotated[hint, tyro.conf.arg(help=comment)]
        options: dict[str, Any] = {"default": default, "kw_only": field.kw_only}
        options["default_factory"] = field.default_factory
        fields.append((field.name, hint, dataclasses.field(**options)))
    namespace = {_WRITTEN: kind, "__doc__": kind.__doc__}
    return dataclasses.make_dataclass(
        kind.__name__, fields, bases=(kind,), frozen=True, namespace=namespace
    )


def as_written(value: Any) -> Any:
    """The same values in the dataclass that was rewrapped.

    Args:
        value: What the parser made; anything else is left as it is.

    Returns:
        An instance of the class as it is written.
    """
    kind = getattr(type(value), _WRITTEN, None)
    if kind is None:
        return value
    return kind(**{name: as_written(each) for name, each in _values(value).items()})


def _values(instance: Any) -> dict[str, Any]:
    return {f.name: getattr(instance, f.name) for f in dataclasses.fields(instance)}


@cache
def _comments(kind: type) -> dict[str, str]:
    """The strings below fields that the class itself has, each in one line."""
    try:
        source = inspect.getsource(kind)
    except OSError:  # installed without sources
        return {}
    (tree,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found
