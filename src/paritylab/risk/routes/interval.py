"""Operations of a jaxpr on intervals: what comes out if arguments may be anywhere in theirs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import special

#: Comparisons closer than this share of their operands may go either way: sums are rounded.
_SLACK = 1e-14


class UnknownOperationError(Exception):
    """A function uses an operation that has no interval form here."""


class Interval(NamedTuple):
    """Values between low and high, one entry per cell along the first axis.

    loose: where the value may jump or bend inside its cell, because a comparison is undecided.
    larger: ("max" or "min", x, y) for a value that is the larger or smaller of x and y.
    """

    low: np.ndarray
    high: np.ndarray
    loose: np.ndarray
    larger: tuple[str, Any, Any] | None = None


def as_interval(value: Any) -> Interval:
    """A constant as an interval of its own."""
    if isinstance(value, Interval):
        return value
    array = np.asarray(value)[None]
    return Interval(array, array, np.zeros(array.shape, bool))


def changed(x: Interval, change: Callable[[np.ndarray], np.ndarray]) -> Interval:
    """All parts of an interval, each changed in the same way."""
    return Interval(change(x.low), change(x.high), change(x.loose))


def aligned(given: Sequence[Any]) -> list[Interval]:
    """Arguments of an operation entry by entry: a number beside an array serves every entry."""
    intervals = [as_interval(each) for each in given]
    most = max(each.low.ndim for each in intervals)

    def wide(part: np.ndarray) -> np.ndarray:
        return part.reshape(part.shape + (1,) * (most - part.ndim))

    return [x if x.low.ndim == most else changed(x, wide) for x in intervals]


def clean(found: Interval) -> Interval:
    """An interval whose ends are unknown is the whole line."""
    if found.low.dtype.kind != "f":
        return found
    low = np.where(np.isnan(found.low), -np.inf, found.low)
    return Interval(low, np.where(np.isnan(found.high), np.inf, found.high), found.loose)


def _rising(function: Callable[..., Any]) -> Callable[..., Interval]:
    """The rule of a function that never falls."""
    return lambda _, x: Interval(function(x.low), function(x.high), x.loose)


def _stepping(function: Callable[..., Any]) -> Callable[..., Interval]:
    """The rule of a rising step function: loose where a step lies inside."""

    def rule(_: Any, x: Interval) -> Interval:
        low, high = function(x.low), function(x.high)
        return Interval(low, high, x.loose | (low != high))

    return rule


def _corners(function: Callable[..., Any], *given: Interval) -> Interval:
    """From the values at all ends, for functions that are monotone in each argument."""
    x, y = given
    ends = [function(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    # 0·∞ is 0 here: the zero is exact and the other side finite, however large.
    ends = [np.where(np.isnan(each), 0.0, each) for each in ends]
    low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
    return Interval(low, high, np.broadcast_to(x.loose | y.loose, low.shape))


def _divide(_: Any, x: Interval, y: Interval) -> Interval:
    found = _corners(np.divide, x, y)
    through = (y.low <= 0) & (y.high >= 0)
    low, high = np.where(through, -np.inf, found.low), np.where(through, np.inf, found.high)
    return Interval(low, high, found.loose)


def _absolute(_: Any, x: Interval) -> Interval:
    across = (x.low < 0) & (x.high > 0)
    ends = np.abs(x.low), np.abs(x.high)
    return Interval(np.where(across, 0.0, np.minimum(*ends)), np.maximum(*ends), x.loose | across)


def _even_power(x: Interval, power: int = 2) -> Interval:
    ends = x.low**power, x.high**power
    across = (x.low < 0) & (x.high > 0)
    return Interval(np.where(across, 0.0, np.minimum(*ends)), np.maximum(*ends), x.loose)


def _integer_power(equation: Any, x: Interval) -> Interval:
    power = equation.params["y"]
    if power < 0:
        one = as_interval(np.ones(()))
        return _divide(None, one, _integer_power_of(x, -power))
    return _integer_power_of(x, power)


def _integer_power_of(x: Interval, power: int) -> Interval:
    if power % 2 == 0:
        return _even_power(x, power)
    return Interval(x.low**power, x.high**power, x.loose)


def _power(_: Any, x: Interval, y: Interval) -> Interval:
    """x^y for x ≥ 0."""
    if np.any(x.low < 0):
        raise UnknownOperationError("pow of negative numbers")
    return _corners(np.power, x, y)


def _pick(which: Any, _: Any, x: Interval, y: Interval) -> Interval:
    """Maximum or minimum: a bend where it is undecided which of the two it is."""
    above, below = x.low >= y.high, x.high <= y.low
    first, second = (above, below) if which is np.maximum else (below, above)
    either = (first & x.loose) | (second & y.loose)
    loose = np.where(first | second, either, True)
    return Interval(which(x.low, y.low), which(x.high, y.high), loose)


def _cosine(x: Interval, shift: float = 0.0) -> Interval:
    """cos(x - shift)."""
    low, high = x.low - shift, x.high - shift
    ends = np.cos(low), np.cos(high)
    top = np.ceil(low / (2 * np.pi)) * 2 * np.pi <= high
    bottom = (np.ceil(low / (2 * np.pi) - 0.5) + 0.5) * 2 * np.pi <= high
    least, most = np.where(bottom, -1.0, np.minimum(*ends)), np.where(top, 1.0, np.maximum(*ends))
    known = np.isfinite(low) & np.isfinite(high)
    return Interval(np.where(known, least, -1.0), np.where(known, most, 1.0), x.loose)


def _hyperbolic_cosine(_: Any, x: Interval) -> Interval:
    ends = np.cosh(x.low), np.cosh(x.high)
    across = (x.low < 0) & (x.high > 0)
    return Interval(np.where(across, 1.0, np.minimum(*ends)), np.maximum(*ends), x.loose)


def compare(name: str, _: Any, x: Interval, y: Interval) -> Interval:
    """Whether x and y compare so: from surely to possibly."""
    slack = _SLACK * (np.abs(x.low) + np.abs(x.high) + np.abs(y.low) + np.abs(y.high))
    slack = np.where(np.isfinite(slack), slack, 0.0)
    same = (x.low == x.high) & (y.low == y.high)  # constants are what they are
    slack = np.where(same, 0.0, slack)
    below, above = x.high + slack < y.low, x.low - slack > y.high
    equal = same & (x.low == y.low)
    if name in ("lt", "le", "gt", "ge"):
        if name in ("gt", "ge"):
            below, above = above, below
        with_equal = name in ("le", "ge")
        sure, never = below | (equal & with_equal), above | (equal & (not with_equal))
    else:
        sure, never = equal, below | above
        if name == "ne":
            sure, never = never, sure
    undecided = ~(sure | never)
    return Interval(sure, ~never, undecided | x.loose | y.loose)


def _logic(function: Callable[..., Any], _: Any, *given: Interval) -> Interval:
    low, high = function(*(x.low for x in given)), function(*(x.high for x in given))
    return Interval(low, high, (low != high) | np.zeros(low.shape, bool))


def _not(_: Any, x: Interval) -> Interval:
    return Interval(~x.high, ~x.low, x.loose)


def _select(_: Any, which: Interval, *cases: Interval) -> Interval:
    """The chosen case; where the choice is open, what holds all that may be chosen."""
    shape = np.broadcast_shapes(which.low.shape, *(case.low.shape for case in cases))
    first, last = (np.broadcast_to(end, shape).astype(int) for end in (which.low, which.high))
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    loose = np.broadcast_to(which.low != which.high, shape).copy()
    if cases[0].low.dtype.kind == "b":
        low, high = np.ones(shape, bool), np.zeros(shape, bool)
    for index, case in enumerate(cases):
        possible = (first <= index) & (index <= last)
        low = np.where(possible, np.minimum(low, case.low), low)
        high = np.where(possible, np.maximum(high, case.high), high)
        loose |= possible & case.loose
    return Interval(low, high, loose)


def _clamp(_: Any, least: Interval, x: Interval, most: Interval) -> Interval:
    return _pick(np.minimum, None, _pick(np.maximum, None, x, least), most)


def _shaped(change: Callable[[Any, np.ndarray], np.ndarray]) -> Callable[..., Interval]:
    """The rule of a change of shape, applied behind the axis of cells."""
    return lambda equation, x: changed(x, lambda part: change(equation, part))


def _broadcast(equation: Any, array: np.ndarray) -> np.ndarray:
    shape, places = equation.params["shape"], equation.params["broadcast_dimensions"]
    full = [1] * len(shape)
    for size, place in zip(array.shape[1:], places, strict=True):
        full[place] = size
    return np.broadcast_to(array.reshape(array.shape[0], *full), (array.shape[0], *shape))


def _convert(equation: Any, x: Interval) -> Interval:
    kind = np.dtype(equation.params["new_dtype"])
    if kind.kind in "iu" and x.low.dtype.kind == "f":
        return _stepping(np.trunc)(equation, x)
    if kind.kind == "b":
        nonzero = ~((x.low <= 0) & (x.high >= 0))
        return Interval(nonzero, (x.low != 0) | (x.high != 0), x.loose | ~nonzero)
    return Interval(x.low.astype(float), x.high.astype(float), x.loose)


def _sum(equation: Any, x: Interval) -> Interval:
    axes = tuple(axis + 1 for axis in equation.params["axes"])
    return Interval(x.low.sum(axis=axes), x.high.sum(axis=axes), np.asarray(x.loose.any(axis=axes)))


def _extreme(which: Any, equation: Any, x: Interval) -> Interval:
    axes = tuple(axis + 1 for axis in equation.params["axes"])
    low = which(x.low, axis=axes)
    return Interval(low, which(x.high, axis=axes), np.ones(low.shape, bool))


def _dot(equation: Any, x: Interval, y: Interval) -> Interval:
    ((left,), (right,)), batch = equation.params["dimension_numbers"]
    if any(batch):
        raise UnknownOperationError("batched dot_general")
    a = changed(x, lambda part: np.moveaxis(part, left + 1, -1))
    b = changed(y, lambda part: np.moveaxis(part, right + 1, -1))
    rows, columns = a.low.ndim - 2, b.low.ndim - 2
    grown = (slice(None), *[slice(None)] * rows, *[None] * columns, slice(None))
    a = changed(a, lambda part: part[grown])
    spread = (slice(None), *[None] * rows, *[slice(None)] * columns, slice(None))
    product = _corners(np.multiply, a, changed(b, lambda part: part[spread]))
    return Interval(product.low.sum(-1), product.high.sum(-1), np.asarray(product.loose.any(-1)))


def _together(join: Any, name: str, equation: Any, *given: Interval) -> Interval:
    """Several values along an axis, by np.concatenate or np.stack."""
    axis, cells = equation.params[name] + 1, max(len(x.low) for x in given)

    def joined(field: str) -> np.ndarray:
        parts = [getattr(x, field) for x in given]
        whole = [np.broadcast_to(part, (cells, *part.shape[1:])) for part in parts]
        return np.asarray(join(whole, axis=axis))

    return Interval(joined("low"), joined("high"), joined("loose"))


def _finite(_: Any, x: Interval) -> Interval:
    yes = np.isfinite(x.low) & np.isfinite(x.high)
    return Interval(yes, np.ones_like(yes), x.loose | ~yes)


#: The same for an operation on twice the same value.
OF_ITSELF: dict[str, Callable[[Any], Interval]] = {
    "mul": lambda x: _even_power(as_interval(x)),
    "sub": lambda x: as_interval(np.zeros(()))._replace(
        loose=np.asarray(as_interval(x).loose.any(keepdims=True))
    ),
    "ne": lambda x: Interval(*(np.zeros(x.low.shape, bool),) * 3),
    "eq": lambda x: Interval(*(np.ones(x.low.shape, bool),) * 2, np.zeros(x.low.shape, bool)),
}

#: What each operation does, by its name in jax.
#: Operations whose arguments need not have one shape.
OF_SHAPES = ("dot_general", "concatenate", "stack")

RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda _, x, y: Interval(x.low + y.low, x.high + y.high, x.loose | y.loose),
    "add_any": lambda _, x, y: Interval(x.low + y.low, x.high + y.high, x.loose | y.loose),
    "sub": lambda _, x, y: Interval(x.low - y.high, x.high - y.low, x.loose | y.loose),
    "mul": lambda _, x, y: _corners(np.multiply, x, y),
    "div": _divide,
    "neg": lambda _, x: Interval(-x.high, -x.low, x.loose),
    "abs": _absolute,
    "square": lambda _, x: _even_power(x),
    "integer_pow": _integer_power,
    "pow": _power,
    "max": partial(_pick, np.maximum),
    "min": partial(_pick, np.minimum),
    "cos": lambda _, x: _cosine(x),
    "sin": lambda _, x: _cosine(x, np.pi / 2),
    "cosh": _hyperbolic_cosine,
    "rsqrt": lambda _, x: Interval(x.high**-0.5, x.low**-0.5, x.loose),
    "erfc": lambda _, x: Interval(special.erfc(x.high), special.erfc(x.low), x.loose),
    "acos": lambda _, x: Interval(np.arccos(x.high), np.arccos(x.low), x.loose),
    "select_n": _select,
    "clamp": _clamp,
    "is_finite": _finite,
    "not": _not,
    "and": partial(_logic, np.logical_and),
    "or": partial(_logic, np.logical_or),
    "convert_element_type": _convert,
    "broadcast_in_dim": _shaped(_broadcast),
    "reshape": _shaped(lambda eqn, a: a.reshape(len(a), *eqn.params["new_sizes"])),
    "squeeze": _shaped(
        lambda eqn, a: np.squeeze(a, tuple(axis + 1 for axis in eqn.params["dimensions"]))
    ),
    "transpose": _shaped(
        lambda eqn, a: np.transpose(a, (0, *(axis + 1 for axis in eqn.params["permutation"])))
    ),
    "copy": lambda _, x: x,
    "copy_p": lambda _, x: x,
    "stop_gradient": lambda _, x: x,
    "reduce_sum": _sum,
    "reduce_max": partial(_extreme, np.max),
    "reduce_min": partial(_extreme, np.min),
    "dot_general": _dot,
    "concatenate": partial(_together, np.concatenate, "dimension"),
    "stack": partial(_together, np.stack, "axis"),
    **{name: partial(compare, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{name: _stepping(getattr(np, name)) for name in ("sign", "floor", "ceil")},
    "round": _stepping(np.round),
    **{
        name: _rising(function)
        for name, function in {
            "exp": np.exp,
            "exp2": np.exp2,
            "expm1": np.expm1,
            "log": np.log,
            "log1p": np.log1p,
            "sqrt": np.sqrt,
            "cbrt": np.cbrt,
            "tanh": np.tanh,
            "sinh": np.sinh,
            "asinh": np.arcsinh,
            "asin": np.arcsin,
            "atan": np.arctan,
            "erf": special.erf,
            "logistic": special.expit,
        }.items()
    },
}
