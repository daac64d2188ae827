"""Settings as annotated fields: a learner's fields are its options.

A field says what it may be and what it means:

    width: Annotated[int, Ge(1), Doc("Hidden neurons.")] = 64

Bounds are those of `annotated_types` (Ge, Gt, Le, Lt, Interval), the sentence is an
`annotated_doc.Doc`; `Choice` and `Formula` say what these have no words for. `options_of` reads
the annotations. Learners check themselves against them when they are built; sweeps, the command
line and the reference make their options from them. Nothing heavy is imported here.
"""

import math
import numbers
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from annotated_doc import Doc
from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt

from paritylab._support.checks import shortened

#: How a bound is said and when a number keeps it, by its sign.
_SIGNS = {
    "≥": ("at least", operator.ge),
    ">": ("above", operator.gt),
    "<": ("below", operator.lt),
    "≤": ("at most", operator.le),
}
#: Endings of a setting that names an object of a user's file, such as mine.py:loss.
PART_MARK = ".py:"


class Bound(NamedTuple):
    """A bound of a number, as messages say it."""

    sign: str
    limit: float


@dataclass(frozen=True, eq=False)
class Choice:
    """One of these names; own: what else is accepted, an object or function of the user's.

    names may be the table that names are registered in; those added to it later count as well.
    """

    names: Collection[str] = ()
    own: str = ""


@dataclass(frozen=True)
class Formula:
    """A number, a formula in n, or a function of n; the learner reads it with `temperature`."""


#: Whole numbers beyond this fit no array.
_LARGEST = 2**63 - 1

#: What newcomers call a setting, and its name here.
SYNONYMS = {
    "temperature": "tau",
    "lr": "eta",
    "learning_rate": "eta",
    "optimizer": "optimiser",
    "epochs": "steps",
    "iterations": "steps",
    "n_heads": "heads",
    "batch_size": "batch",
    "hidden": "width",
}


class Option(NamedTuple):
    """One setting.

    type: int, float, str or bool. help: one line. bounds: of a number. choices: names it may take;
    `own` says what else it accepts, an object or function of the user's. optional: None is allowed
    and means what the help says. formula: a number, a formula in n or a function of n.
    """

    type: type
    help: str
    bounds: tuple[Bound, ...] = ()
    choices: tuple[str, ...] = ()
    own: str = ""
    optional: bool = False
    formula: bool = False

    @property
    def may_be(self) -> str:
        """What the setting accepts, in words.

        >>> Option(int, "Rows.", (Bound("≥", 1),), optional=True).may_be
        'a whole number ≥ 1 or none'
        """
        words = [f"`{choice}`" for choice in self.choices] + ([self.own] if self.own else [])
        if self.formula:
            words.append('a number, a formula in n such as "2/n", or a function of n')
        if not words:
            named = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
            limits = ", ".join(f"{bound.sign} {bound.limit:g}" for bound in self.bounds)
            words.append(f"{named[self.type]} {limits}".strip())
        return ", ".join(words) + (" or none" if self.optional else "")


class Problem:
    """What there is to learn; every learner takes some of these. Read by `options_of` alone."""

    n: Annotated[int, Ge(1), Doc("Number of bits.")]
    k: Annotated[int, Ge(1), Doc("Size of the hidden set.")]
    subset: Annotated[str, Doc("One hidden set for all runs, such as 7,10,17; random if absent.")]
    target: Annotated[
        str,
        Choice(("parity", "majority", "conjunction", "not-all-equal", "staircase")),
        Doc("What the hidden bits decide."),
    ]
    noise: Annotated[float, Ge(0), Lt(0.5), Doc("Share of flipped labels.")]
    bias: Annotated[float, Gt(0), Lt(1), Doc("P(bit = 1).")]
    neighbours: Annotated[bool, Doc("Whether the set may hold circular neighbours.")]
    samples: Annotated[int, Ge(1), Doc("Rows; exact gradients over all inputs if absent.")]
    fresh: Annotated[bool, Doc("New rows at every step instead of one sample per run.")]


def options_of(made: type) -> dict[str, Option]:
    """The options of a class, from its annotated fields.

    >>> options_of(Problem)["noise"].may_be
    'a number ≥ 0, < 0.5'
    """
    hints = get_type_hints(made, include_extras=True)
    return {name: _option(hint) for name, hint in hints.items() if get_origin(hint) is Annotated}


def _option(hint: Any) -> Option:
    kind, *marks = get_args(hint)
    parts = get_args(kind) or (kind,)
    scalars = [part for part in parts if part in (int, float, bool, str)] or [str]
    entries: dict[str, Any] = {"optional": type(None) in parts, "bounds": tuple(_bounds(marks))}
    for mark in marks:
        match mark:
            case Doc():
                entries["help"] = mark.documentation
            case Choice():
                entries |= {"choices": tuple(mark.names), "own": mark.own}
            case Formula():
                entries["formula"], scalars = True, [float]
    return Option(scalars[0], **entries)


def _bounds(marks: Iterable[object]) -> Iterator[Bound]:
    """The bounds among the marks of a field; an interval is two of them."""
    for mark in marks:
        match mark:
            case Ge(limit):
                yield Bound("≥", limit)  # type: ignore[arg-type]  # of a number, a number
            case Gt(limit):
                yield Bound(">", limit)  # type: ignore[arg-type]
            case Le(limit):
                yield Bound("≤", limit)  # type: ignore[arg-type]
            case Lt(limit):
                yield Bound("<", limit)  # type: ignore[arg-type]
            case GroupedMetadata():
                yield from _bounds(mark)


PROBLEM = options_of(Problem)


def check_settings(learner: str, values: Mapping[str, object], table: Mapping[str, Option]) -> None:
    """Every value against its option; a ValueError names the setting, its range and the value."""
    check_known(f"setting of {learner}", values, table)
    for name, value in values.items():
        check_value(name, value, table[name])


def check_known(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """A clear error for the first name that is not known, with the nearest that is."""
    for name in given:
        if name not in known:
            raise ValueError(f"unknown {what} {name!r}{nearest(name, known)}")


def check_ids(ids: Iterable[str], known: Collection[str], no_such: str, otherwise: str) -> None:
    """Refuse the first id that is not known, with the one that was probably meant."""
    for id in ids:
        if id not in known:
            near = get_close_matches(id, known, 1)
            raise ValueError(
                f"{no_such} {id!r}; {f'did you mean {near[0]}?' if near else otherwise}"
            )


def nearest(name: str, known: Collection[str]) -> str:
    """The end of an error about an unknown name: the one that was probably meant, and all.

    >>> nearest("stepz", ["eta", "steps"])
    "; did you mean 'steps'? Known: eta, steps"
    """
    close = get_close_matches(str(name), [str(each) for each in known], 1)
    meant = SYNONYMS.get(str(name))
    if meant in known:
        close = [str(meant)]
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"{hint} Known: {', '.join(sorted(known))}"


def check_value(name: str, value: object, option: Option) -> None:
    """One value against one option."""
    if value is None:
        if not option.optional:
            raise ValueError(f"{name} is needed: {option.help}")
    elif wanted := _wanted(value, option):
        close = get_close_matches(value, option.choices, 1) if isinstance(value, str) else []
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{name} must be {wanted}, got {shortened(value)}{hint}")


def _wanted(value: object, option: Option) -> str:
    """What a value should have been; nothing if it fits."""
    if option.formula:
        fits = isinstance(value, str | numbers.Real) or callable(value)
        return "" if fits and not isinstance(value, bool) else option.may_be
    if option.choices or option.own:
        plain = isinstance(value, str | numbers.Number | dict | set | bytes)
        names = f"one of {', '.join(option.choices)}" if option.choices else ""
        either = " or ".join(each for each in (names, option.own) if each)
        known = isinstance(value, str) and value in option.choices
        return "" if known or (option.own and not plain) else either
    if option.type in (int, float):
        return _wanted_number(value, option)
    fits = isinstance(value, option.type)
    return "" if fits else "true or false" if option.type is bool else "text"


def _wanted_number(value: object, option: Option) -> str:
    kind = numbers.Integral if option.type is int else numbers.Real
    if isinstance(value, bool) or not isinstance(value, kind):
        return "a whole number" if option.type is int else "a number"
    if isinstance(value, numbers.Integral) and abs(int(value)) > _LARGEST:
        return "a whole number below 2⁶³"
    number = float(value)
    if not math.isfinite(number):
        return "finite"
    broken = (bound for bound in option.bounds if not _SIGNS[bound.sign][1](number, bound.limit))
    return next((f"{_SIGNS[sign][0]} {limit}" for sign, limit in broken), "")
