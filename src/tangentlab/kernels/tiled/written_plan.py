"""A plan as JSON and back, equal to itself."""

import dataclasses
from typing import Any

from ..features import Outer, Rows, Whole
from ..planning import Plan
from ..reading.sites import Piece

_KINDS = {kind.__name__: kind for kind in (Piece, Outer, Rows, Whole)}


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Write a plan down, all but the memory that was there.

    Args:
        plan: The plan.

    Returns:
        What `plan_from_json` reads.
    """
    names = [field.name for field in dataclasses.fields(plan)]
    return {name: _encode(getattr(plan, name)) for name in names if name != "memory"}


def plan_from_json(content: dict[str, Any]) -> Plan:
    """Read a plan.

    Args:
        content: What `plan_to_json` wrote.

    Returns:
        The plan; its memory is what it needs.
    """
    fields = {name: _decode(value) for name, value in content.items()}
    return Plan(**fields, memory=fields["needed"])


def _encode(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        kind = type(value).__name__
        assert kind in _KINDS, f"a plan with {kind} in it could not be read back"
        return {"kind": kind} | {k: _encode(v) for k, v in value._asdict().items()}
    return [_encode(item) for item in value] if isinstance(value, tuple) else value


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {name: _decode(part) for name, part in value.items() if name != "kind"}
        return _KINDS[value["kind"]](**fields)
    return tuple(_decode(item) for item in value) if isinstance(value, list) else value
