"""The one table of routes: which is taken up to which n, once or inside a compiled loop."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from paritylab.precision import AnyArray
from paritylab.risk.routes import cosine, enumeration, half_sums, lattice, numerical, series
from paritylab.risk.routes.case import Case, LoopRisk, RouteRisk, Statistic
from paritylab.risk.routes.targets import JuntaTarget, Target


@runtime_checkable
class RouteModule(Protocol):
    """What a module of routes/ offers."""

    def applies(self, statistic: Statistic, case: Case | None = None) -> bool:
        """Whether the route can serve the statistic, and this case of it."""

    def risk(self, case: Case) -> RouteRisk:
        """The risk at fixed weights."""

    def in_loop(self, statistic: Statistic, n: int) -> LoopRisk:
        """The risk as a function for compiled loops."""


@runtime_checkable
class ManyRoute(RouteModule, Protocol):
    """A route that serves many runs in one compiled call."""

    def many(
        self,
        statistic: Statistic,
        weights: Float[AnyArray, "runs n"],
        targets: Target | JuntaTarget,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values and errors (runs,); the targets are stacked along a first axis of runs."""


@dataclass(frozen=True)
class Route:
    """One row. once, loop: largest n at the front door and inside loops. most: when asked for."""

    name: str
    module: RouteModule
    once: float | int
    loop: float | int
    most: float | int


#: The first row that applies is taken. Adding a route is adding a module and a line.
ROUTES = (
    Route("closed form", cosine, once=math.inf, loop=math.inf, most=math.inf),
    Route("half-sums", half_sums, once=36, loop=24, most=36),
    Route("enumeration", enumeration, once=20, loop=14, most=26),
    Route("lattice", lattice, once=math.inf, loop=0, most=math.inf),
    Route("series", series, once=math.inf, loop=math.inf, most=math.inf),
    Route("series", numerical, once=math.inf, loop=math.inf, most=math.inf),
)


def route_once(case: Case, name: str = "auto") -> Route:
    """The row for one risk at fixed weights; name: "auto", or the route that is asked for."""
    fitting = (
        row
        for row in ROUTES
        if case.problem.n <= (row.once if name == "auto" else row.most)
        and row.module.applies(case.statistic, case)
    )
    return _first(fitting, name)


def route_in_loop(statistic: Statistic, n: int, name: str = "auto") -> Route:
    """The row for a compiled loop; name as above."""
    fitting = (
        row
        for row in ROUTES
        if row.loop
        and n <= (row.loop if name == "auto" else row.most)
        and row.module.applies(statistic)
    )
    return _first(fitting, name)


def _first(fitting: Iterable[Route], name: str) -> Route:
    if name == "auto":
        return next(iter(fitting))
    rows = list(fitting)
    found = [row for row in rows if row.name == name]
    if not found:
        options = ", ".join(dict.fromkeys(row.name for row in rows))
        raise ValueError(f"route {name!r} does not apply here; possible: {options}")
    return found[0]
