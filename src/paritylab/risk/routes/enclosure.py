"""What a scalar function can do between two points: its jaxpr, run on intervals.

A readout is known by its values only, but jax can be asked which operations make it. Each is done
with intervals (`interval`), for many cells at a time, so that a jump or a spike between the points
of a grid cannot hide. An operation that has no rule raises `UnknownOperationError`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from paritylab.precision import float64
from paritylab.risk.routes.interval import (
    OF_ITSELF,
    OF_SHAPES,
    RULES,
    Interval,
    UnknownOperationError,
    aligned,
    as_interval,
    changed,
    clean,
    compare,
)

#: Values of the equations that depend on constants only, by their place in the function.
_Known = dict[tuple[int, ...], list[Any]]


class Enclosed:
    """A function of one number, traced once: enclosures of its outputs over any cells.

    >>> wave = Enclosed(jax.numpy.cos)(np.array([0.0, 3.0]), np.array([1.0, 3.5]))[0]
    >>> wave.low.round(2).tolist(), wave.high.round(2).tolist()
    ([0.54, -1.0], [1.0, -0.94])
    """

    def __init__(self, function: Callable[[jax.Array], Any]) -> None:
        with float64():
            self._traced = jax.make_jaxpr(function)(np.float64(0.5))
        self._known: _Known = {}

    def __call__(self, low: np.ndarray, high: np.ndarray) -> list[Interval]:
        """One interval per output, for the cells [low, high]."""
        cells = Interval(np.asarray(low), np.asarray(high), np.zeros(np.shape(low), bool))
        with float64(), np.errstate(all="ignore"):
            found = _run(self._traced.jaxpr, self._traced.consts, [cells], self._known, ())
        return [
            changed(as_interval(each), lambda part: np.broadcast_to(part, np.shape(low)))
            for each in found
        ]

    def at(self, *points: np.ndarray) -> list[np.ndarray]:
        """The first output at points: one array for each that is given."""
        every = np.concatenate(points)
        values = self(every, every)[0].low
        return list(np.split(values, np.cumsum([len(each) for each in points])[:-1]))


def _run(
    jaxpr: Any,
    consts: Sequence[Any],
    arguments: Sequence[Any],
    known: _Known,
    place: tuple[int, ...],
) -> list[Any]:
    """Outputs of a jaxpr; constants stay arrays, everything else is an `Interval`."""
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, map(np.asarray, consts), strict=True))
    values |= dict(zip(jaxpr.invars, arguments, strict=True))

    def value_of(atom: Any) -> Any:
        return np.asarray(atom.val) if hasattr(atom, "val") else values[atom]

    for index, equation in enumerate(jaxpr.eqns):
        here = (*place, index)
        made = known.get(here)
        if made is None:
            given = [value_of(atom) for atom in equation.invars]
            made = _outcome(equation, given, known, here)
            if not any(isinstance(each, Interval) for each in made):
                known[here] = made
        values |= dict(zip(equation.outvars, made, strict=True))
    return [value_of(atom) for atom in jaxpr.outvars]


def _outcome(equation: Any, given: list[Any], known: _Known, here: tuple[int, ...]) -> list[Any]:
    name, params = equation.primitive.name, equation.params
    inner = params.get("jaxpr") or params.get("call_jaxpr")
    if inner is not None and name not in ("scan", "while", "cond"):
        bare, consts = getattr(inner, "jaxpr", inner), getattr(inner, "consts", ())
        return _run(bare, consts, given[-len(bare.invars) :] if bare.invars else [], known, here)
    if not any(isinstance(each, Interval) for each in given):
        made = equation.primitive.bind(*given, **params)
        several = made if equation.primitive.multiple_results else [made]
        return [np.asarray(each) for each in several]
    rule = RULES.get(name)
    if rule is None:
        raise UnknownOperationError(name)
    same = len(given) == 2 and equation.invars[0] is equation.invars[1]
    if same and name in OF_ITSELF:
        return [clean(OF_ITSELF[name](given[0]))]
    if name == "eq" and (turned := _as_order(*given)) is not None:
        name, *given = turned
        return [compare(name, None, *aligned(given))]
    ready = map(as_interval, given) if name in OF_SHAPES else aligned(given)
    found = clean(rule(equation, *ready))
    return [found._replace(larger=(name, *given)) if name in ("max", "min") else found]


def _as_order(x: Any, y: Any) -> tuple[str, Any, Any] | None:
    """x = max(x, z) says x ≥ z: what the slope of a maximum asks, where equality seems open."""
    for each, other in ((x, y), (y, x)):
        for_larger = getattr(other, "larger", None)
        if for_larger is not None:
            name, a, b = for_larger
            for one, rest in ((a, b), (b, a)):
                constant = not isinstance(each, Interval) and not isinstance(one, Interval)
                if each is one or (constant and np.array_equal(each, one)):
                    return "ge" if name == "max" else "le", one, rest
    return None


def _invars(inner: Any) -> Sequence[Any]:
    found: Sequence[Any] = getattr(inner, "jaxpr", inner).invars
    return found
