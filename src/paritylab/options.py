"""Settings as annotated fields: a learner's fields are its options.

A field says what it may be and what it means:

    width: Annotated[int, Ge(1), Doc("Hidden neurons.")] = 64

`options_of` reads these annotations. Learners check themselves against them when they are built;
sweeps, the command line and the reference make their options from them. Nothing heavy is imported
here, so that `--help` is quick.
"""

import ast
import builtins
import math
import numbers
import operator
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from paritylab.checks import shortened

#: How a bound is said and when a number keeps it, by its sign.
_SIGNS = {
    "≥": ("at least", operator.ge),
    ">": ("above", operator.gt),
    "<": ("below", operator.lt),
    "≤": ("at most", operator.le),
}


class Bound(NamedTuple):
    """A bound of a number; written Ge(1), Gt(0), Lt(1) or Le(1)."""

    sign: str
    limit: float


Ge, Gt, Lt, Le = (partial(Bound, sign) for sign in _SIGNS)


class Doc(NamedTuple):
    """One line that says what the setting means."""

    text: str


class Choice(NamedTuple):
    """One of these names; own: what else is accepted, an object or function of the user's."""

    names: tuple[str, ...] = ()
    own: str = ""


class Formula(NamedTuple):
    """A number, a formula in n, or a function of n; the learner reads it with `temperature`."""


#: Choices that several learners share.
LOSS = Choice(
    ("squared_hinge", "hinge", "mean_hinge_squared", "squared", "correlation", "log_correlation"),
    own="a Loss or a function of y and ŷ",
)
OPTIMISER = Choice(
    ("sgd", "momentum", "normalised", "adam", "adam99", "adamw", "rmsprop"),
    own="an optax optimiser or a function of the step size that gives one",
)
ATTENTION = Choice(("softmax", "linear", "sigmoid", "exp", "relu"), own="a function of scores")
LINK = Choice(("cos", "quadratic", "gentle"), own="an AbstractLink or an even function of t")

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

        >>> Option(int, "Rows.", (Ge(1),), optional=True).may_be
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
    plain = [each for each in parts if each in (int, float, bool, str)] or [str]
    bounds = tuple(mark for mark in marks if isinstance(mark, Bound))
    found: dict[str, Any] = {"optional": type(None) in parts, "bounds": bounds}
    for mark in marks:
        match mark:
            case Doc(text):
                found["help"] = text
            case Choice(names, own):
                found |= {"choices": names, "own": own}
            case Formula():
                found["formula"], plain = True, [float]
    return Option(plain[0], **found)


PROBLEM = options_of(Problem)


def options_in_source(path: Path) -> dict[str, dict[str, Option]]:
    """Options of every class that a source file registers as a learner, by the learner's name.

    The file is parsed and not imported: a learner's module imports jax, which `--help` cannot wait
    for. Only annotations are evaluated, with the names of this module; any other name is a type.
    """
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "register_learner":
                name = ast.literal_eval(mark.args[0])
                found[name] = {
                    each.target.id: _option(_evaluated(each.annotation))
                    for each in node.body
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
                    if ast.unparse(each.annotation).startswith("Annotated")
                }
    return found


class _Names(dict[str, object]):
    """Names of this module and Python's own; any other name stands for a type elsewhere."""

    def __missing__(self, name: str) -> object:
        return getattr(builtins, name, list)


def _evaluated(annotation: ast.expr) -> Any:
    code = compile(ast.Expression(annotation), "<annotation>", "eval")
    return eval(code, {}, _Names(globals()))


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
