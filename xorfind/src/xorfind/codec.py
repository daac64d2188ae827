"""Records to JSON and back, by their type hints.

A record is a frozen dataclass or a NamedTuple whose fields are numbers, texts, flags, enums, None,
tuples or other records. `to_json` writes what `json.dumps` takes; `from_json` reads
it back under the hints, and anything that does not fit them is one ValueError that says where.
"""

import math
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

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
def _hints(kind: type) -> dict[str, Any]:
    """Fields of a record with their types; empty for anything else."""
    if is_dataclass(kind):
        types = get_type_hints(kind)
        return {each.name: types[each.name] for each in fields(kind)}
    return get_type_hints(kind) if hasattr(kind, "_fields") else {}


def _required(kind: type) -> set[str]:
    """Fields without a default."""
    if is_dataclass(kind):
        plain = [each for each in fields(kind) if each.default_factory is MISSING]
        return {each.name for each in plain if each.default is MISSING}
    return set(kind._fields) - set(kind._field_defaults)  # type: ignore[attr-defined]


def _read(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _read_either(get_args(kind), data, where)
    if origin is tuple:
        return _read_tuple(get_args(kind), data, where)
    if origin is None and kind is not Any and _hints(kind):
        return _read_record(kind, data, where)
    if not _fits(kind, origin, data):
        raise ValueError(f"{where} cannot be {data!r}"[:200])
    plain = kind is Any or origin is Literal or not issubclass(kind, float | StrEnum)
    return data if plain else kind(data)


def _fits(kind: Any, origin: Any, data: Any) -> bool:
    """Whether a value without parts is of its kind."""
    if kind is Any or (kind is NoneType and data is None):
        return True
    if origin is Literal:
        return data in get_args(kind)
    if kind is float:
        number = isinstance(data, int | float) and not isinstance(data, bool)
        return number or data in ("inf", "-inf")
    if issubclass(kind, StrEnum):
        return data in list(kind)
    return isinstance(data, kind) and isinstance(data, bool) == (kind is bool)


def _read_record(kind: type, data: Any, where: str) -> Any:
    hints = _hints(kind)
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, got {data!r}"[:200])
    missing = [name for name in _required(kind) if name not in data]
    if missing:
        raise ValueError(f'{where} lacks "{min(missing)}"')
    given = {name: hint for name, hint in hints.items() if name in data}
    return kind(**{n: _read(hint, data[n], f'"{n}" of {where}') for n, hint in given.items()})


def _read_tuple(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise ValueError(f"{where} must be a list, got {data!r}"[:200])
    if len(kinds) == 2 and kinds[1] is ...:
        kinds = (kinds[0],) * len(data)
    if len(kinds) != len(data):
        raise ValueError(f"{where} needs {len(kinds)} entries, got {len(data)}")
    return tuple(_read(kind, each, where) for kind, each in zip(kinds, data, strict=True))


def _read_either(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    for kind in kinds[:-1]:
        try:
            return _read(kind, data, where)
        except ValueError:
            continue
    return _read(kinds[-1], data, where)
