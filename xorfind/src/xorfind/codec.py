"""Records to JSON and back, by their type hints.

A record is a frozen dataclass or a NamedTuple whose fields are numbers, texts, flags, enums,
tuples or other records, or such a thing or None. `to_json` writes what `json.dumps` takes;
`from_json` reads it back under the hints, and anything that does not fit them is one ValueError
that says where.
"""

import math
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def to_json(value: Any) -> Any:
    """A record as dicts, lists, numbers and texts; an infinite number becomes a text.

    >>> from xorfind.statistics import Rate
    >>> to_json((Rate(1, 4), None))
    [{'successes': 1, 'runs': 4}, None]
    """
    kind: Any = type(value)
    names: dict[str, Any] = _hints(kind)
    if names:
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, tuple | list):
        return [to_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return str(value) if isinstance(value, StrEnum) else value


def from_json(kind: type[Record], data: Any, where: str = "the record") -> Record:
    """The record of a kind that `to_json` wrote as `data`. where: its name in errors."""
    made: Record = _read(kind, data, where)
    return made


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Fields of a record with their types; empty for anything else."""
    return get_type_hints(kind) if is_dataclass(kind) or hasattr(kind, "_fields") else {}


def _required(kind: Any) -> set[str]:
    """Fields without a default."""
    if is_dataclass(kind):
        return {each.name for each in fields(kind) if each.default is MISSING}
    return set(kind._fields) - set(kind._field_defaults)


def _read(kind: Any, data: Any, where: str) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is UnionType:
        (main,) = (part for part in parts if part is not NoneType)
        return None if data is None else _read(main, data, where)
    if origin is tuple:
        return _read_tuple(parts, data, where)
    if kind is Any:
        return data
    if _hints(kind):
        return _read_record(kind, data, where)
    if not (data in parts if origin is Literal else _fits(kind, data)):
        raise ValueError(f"{where} cannot be {data!r}"[:200])
    return data if origin is Literal else kind(data)


def _fits(kind: Any, data: Any) -> bool:
    """Whether a value without parts is of its kind; True is not a number."""
    if kind is float:
        number = isinstance(data, int | float) and not isinstance(data, bool)
        return number or data in ("inf", "-inf")
    if issubclass(kind, StrEnum):
        return data in list(kind)
    return isinstance(data, kind) and isinstance(data, bool) == (kind is bool)


def _read_record(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, got {data!r}"[:200])
    missing = [name for name in _required(kind) if name not in data]
    if missing:
        raise ValueError(f'{where} lacks "{min(missing)}"')
    given = {name: hint for name, hint in _hints(kind).items() if name in data}
    return kind(**{n: _read(hint, data[n], f'"{n}" of {where}') for n, hint in given.items()})


def _read_tuple(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise ValueError(f"{where} must be a list, got {data!r}"[:200])
    if len(kinds) == 2 and kinds[1] is ...:
        kinds = (kinds[0],) * len(data)
    if len(kinds) != len(data):
        raise ValueError(f"{where} needs {len(kinds)} entries, got {len(data)}")
    return tuple(_read(kind, each, where) for kind, each in zip(kinds, data, strict=True))
