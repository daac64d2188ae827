"""Records: what a measurement found, each field under the name a reader sees.

A record is a frozen dataclass made with `@record`. What a row shows, how many runs stand behind it
and what the source predicts are all read off the fields, so that nobody writes a number twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from paritylab.claims.engine.verdict import Evidence
from paritylab.statistics import Mean, Rate

_KEY = "shown"
_EVIDENCE = "__evidence__"
Made = TypeVar("Made")


class _Shown(NamedTuple):
    """What is known of a field. label: its name in the row; "" if it is not shown there.

    by: the attribute that names its entries one by one. predicted: what the source says of it.
    against: the attribute that holds what the source says. counts: whether its runs or its number
    are counted among the runs of the record; None: if it is a rate.
    """

    label: str = ""
    by: str = ""
    predicted: Any = None
    against: str = ""
    counts: bool | None = None


def shown(
    label: str, *, by: str = "", predicted: Any = None, against: str = "", counts: bool = True
) -> Any:
    """A field that the row shows under `label`.

    by: an attribute of the record with one name per entry of this field, such as "cells". predicted
    or against: what the source says of the number, as a value or as the name of an attribute.
    counts: False for a rate whose runs another field counts already.
    """
    about = _Shown(label, by, predicted, against, None if counts else False)
    return field(metadata={_KEY: about})


def drawn(label: str = "", *, by: str = "") -> Any:
    """A field with a number of runs or drawn cases, which the row adds up; per entry of `by`."""
    return field(metadata={_KEY: _Shown(label, by if not label else "", counts=True)})


class _Derived(property):
    about: _Shown


def derived(
    label: str, *, by: str = "", predicted: Any = None, against: str = ""
) -> Callable[[Callable[[Any], Any]], Any]:
    """As `shown`, for a property that is computed from the other fields."""

    def make(function: Callable[[Any], Any]) -> _Derived:
        made = _Derived(function)
        made.about = _Shown(label, by, predicted, against, False)
        return made

    return make


@dataclass_transform(frozen_default=True, field_specifiers=(shown, drawn))
def record(*, evidence: str | None = None) -> Callable[[type[Made]], type[Made]]:
    """Make a class a record. evidence: what kind of number decides, if no run was drawn for it.

    >>> @record()
    ... class Cell:
    ...     n: int
    ...     solved: Rate = shown("runs that are solved", predicted="all")
    ...     def __str__(self): return f"n = {self.n}"
    >>> @record()
    ... class Found:
    ...     cells: list[Cell]
    >>> found = Found([Cell(8, Rate(3, 4)), Cell(16, Rate(1, 4))])
    >>> measured(found)["runs that are solved"]["n = 8"], runs_of(found)
    (Rate(successes=3, runs=4), 8)
    >>> predicted(found), evidence_of(found).value
    ({'runs that are solved': 'all'}, 'sampled')
    """

    def make(cls: type[Made]) -> type[Made]:
        made = dataclass(frozen=True, eq=False)(cls)
        setattr(made, _EVIDENCE, None if evidence is None else Evidence(evidence))
        return made

    return make


def is_record(value: Any) -> bool:
    """Whether a value was made with `@record`."""
    return is_dataclass(value) and not isinstance(value, type) and hasattr(value, _EVIDENCE)


def measured(value: Any) -> dict[str, Any]:
    """The numbers of a record by label; those of its parts by the part's own name."""
    found: dict[str, Any] = {}
    for about, entry in _entries(value):
        if about.label:
            found[about.label] = _shown_value(value, about, entry)
            continue
        if is_record(entry):
            found.update(measured(entry))
        for name, part in _parts(entry):
            for label, inner in measured(part).items():
                found.setdefault(label, {})[name] = inner
    return found


def predicted(value: Any) -> dict[str, Any]:
    """What the source says of the record's numbers, under the same labels."""
    found: dict[str, Any] = {}
    for about, entry in _entries(value):
        said = getattr(value, about.against) if about.against else about.predicted
        if about.label and said is not None:
            found[about.label] = _by_name(value, about, said) if about.against else said
        if about.label:
            continue
        if is_record(entry):
            found.update(predicted(entry))
        for name, part in _parts(entry):
            for label, inner in _said_of(part):
                if isinstance(inner, _Same):
                    found.setdefault(label, inner.value)
                else:
                    found.setdefault(label, {})[name] = inner
    return found


class _Same(NamedTuple):
    """A prediction that is the same for every part."""

    value: Any


def _said_of(part: Any) -> Iterator[tuple[str, Any]]:
    fixed = {about.label for about, _ in _entries(part) if not about.against}
    for label, said in predicted(part).items():
        yield label, _Same(said) if label in fixed else said


def runs_of(value: Any) -> int:
    """Independent runs or drawn cases behind the numbers of a record; 0 if nothing was drawn."""
    total = 0
    for about, entry in _entries(value):
        if about.counts is False:
            continue
        if about.counts and not isinstance(entry, Rate | Mean):
            times = len(getattr(value, about.by)) if about.by else 1
            total += int(sum(entry)) if isinstance(entry, Sequence) else int(entry) * times
            continue
        if is_record(entry) or isinstance(entry, Rate | Mean):
            total += _runs_in(entry)
        total += sum(_runs_in(part) for _, part in _parts(entry))
    return total


def _runs_in(part: Any) -> int:
    return part.runs if isinstance(part, Rate | Mean) else runs_of(part)


def evidence_of(value: Any) -> Evidence | None:
    """What kind of number decides: as the record's class says, else sampled if runs were drawn."""
    said = getattr(value, _EVIDENCE, None)
    if said is not None:
        return Evidence(said)
    return Evidence.SAMPLED if is_record(value) and runs_of(value) else None


def _entries(value: Any) -> Iterator[tuple[_Shown, Any]]:
    for each in fields(value):
        yield each.metadata.get(_KEY, _Shown()), getattr(value, each.name)
    for name in dir(type(value)):
        made = getattr(type(value), name, MISSING)
        if isinstance(made, _Derived):
            yield made.about, getattr(value, name)


def _parts(entry: Any) -> Iterator[tuple[str, Any]]:
    """The records or rates inside a list or a mapping, with their names."""
    if isinstance(entry, Mapping):
        pairs = [(str(name), part) for name, part in entry.items()]
    elif isinstance(entry, list | tuple):
        pairs = [("" if isinstance(part, Rate | Mean) else str(part), part) for part in entry]
    else:
        return
    yield from (
        (name, part) for name, part in pairs if is_record(part) or isinstance(part, Rate | Mean)
    )


def _shown_value(value: Any, about: _Shown, entry: Any) -> Any:
    if is_record(entry):
        return measured(entry)
    if about.by:
        return _by_name(value, about, entry)
    parts = [(name, part) for name, part in _parts(entry) if is_record(part)]
    return {name: measured(part) for name, part in parts} if parts else entry


def _by_name(value: Any, about: _Shown, entry: Any) -> Any:
    if not about.by or not hasattr(entry, "__len__") or isinstance(entry, str):
        return entry
    names = getattr(value, about.by)
    return {str(name): each for name, each in zip(names, entry, strict=True)}
