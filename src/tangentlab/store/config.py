"""Config dataclasses to JSON and back, without losing or inventing anything.

A field may be a bool, int, float, string, path, None, a literal, a tuple or list of
these, a dict with string keys, another dataclass, or a union of such types.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Walk:
...     steps: tuple[int, ...] = (3, 4)
>>> to_json(Walk())
{'steps': [3, 4]}
>>> from_json(Walk, {"steps": [5]}, where="walk")
Walk(steps=(5,))
"""

import dataclasses
import hashlib
import json
import math
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_UNIONS = (Union, types.UnionType)


def to_json(value: Any) -> Any:
    """Turn a config, or a value inside one, into what JSON can hold.

    Args:
        value: A dataclass instance, or the value of one of its fields.

    Returns:
        Dicts, lists, strings, numbers, booleans and None.

    Raises:
        ValueError: For a number that JSON does not have (NaN, infinity).
        TypeError: For a value of a type that would not load back.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(
            f"A config cannot hold {value}, which JSON does not have; use None for "
            "'no limit'."
        )
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: to_json(item) for key, item in value.items()}
    raise TypeError(
        f"A config cannot hold {value!r} of type {type(value).__name__}: use plain "
        "numbers, strings, paths, tuples, string-keyed dicts or dataclasses."
    )


def from_json(hint: Any, value: Any, *, where: str) -> Any:
    """Read a value back into the type that a field declares; nothing is guessed.

    Args:
        hint: The type: a dataclass, or the annotation of a field.
        value: What JSON gave.
        where: Names the value in messages, such as `config.json: recipe.epochs`.

    Returns:
        A value of that type.

    Raises:
        ValueError: For unknown or missing keys (the known ones are listed) and for
            values of another type.
    """
    origin, args = get_origin(hint), get_args(hint)
    if hasattr(hint, "__metadata__"):  # Annotated[type, ...]
        return from_json(hint.__origin__, value, where=where)
    if dataclasses.is_dataclass(hint):
        return _dataclass_from_json(hint, value, where)
    if origin in _UNIONS:
        return _union_from_json(args, value, where)
    if origin is Literal:
        if any(value == choice and type(value) is type(choice) for choice in args):
            return value
        raise ValueError(f"{where} must be one of {args}, got {value!r}.")
    if origin in (tuple, list) and isinstance(value, list):
        return _sequence_from_json(origin, args, value, where)
    if origin is dict and isinstance(value, dict):
        items = value.items()
        return {k: from_json(args[1], v, where=f"{where}.{k}") for k, v in items}
    return _plain_from_json(hint, value, where)


def config_hash(experiment: str, config: Any) -> str:
    """Eight hexadecimal digits that change whenever the name or any field does.

    Args:
        experiment: Name of the experiment.
        config: Its config dataclass.

    Returns:
        The first 32 bits of a SHA-256.
    """
    content = json.dumps([experiment, to_json(config)], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def _dataclass_from_json(hint: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(
            f"{where} must be an object with the fields of {hint.__name__}, got "
            f"{value!r}."
        )
    hints = get_type_hints(hint, include_extras=True)
    known = [field.name for field in dataclasses.fields(hint)]
    unknown = sorted(set(value) - set(known))
    missing = [name for name in known if name not in value]
    if unknown or missing:
        what = f"has unknown keys {unknown}" if unknown else f"lacks the keys {missing}"
        raise ValueError(f"{where} {what}. {hint.__name__} has: {', '.join(known)}.")
    fields = {
        name: from_json(hints[name], value[name], where=f"{where}.{name}")
        for name in known
    }
    return hint(**fields)


def _union_from_json(members: tuple[Any, ...], value: Any, where: str) -> Any:
    reasons = []
    for member in members:
        try:
            return from_json(member, value, where=where)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError(" Or: ".join(reasons))


def _sequence_from_json(
    origin: Any, args: tuple[Any, ...], values: list[Any], where: str
) -> Any:
    if origin is list or args[1:] == (...,):
        hints = [args[0]] * len(values)
    else:
        hints = list(args)
    if len(hints) != len(values):
        raise ValueError(f"{where} must hold {len(hints)} values, got {values!r}.")
    return origin(
        from_json(hint, value, where=f"{where}[{i}]")
        for i, (hint, value) in enumerate(zip(hints, values, strict=True))
    )


def _plain_from_json(hint: Any, value: Any, where: str) -> Any:
    if hint is float and type(value) in (int, float):
        return float(value)
    if hint is Path and isinstance(value, str):
        return Path(value)
    if hint is types.NoneType and value is None:
        return None
    if hint in (bool, int, str) and type(value) is hint:
        return value
    raise ValueError(
        f"{where} must be of type {getattr(hint, '__name__', hint)}, got {value!r}."
    )
