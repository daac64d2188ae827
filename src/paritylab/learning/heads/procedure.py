"""Named ways of training: the settings of the paper and of its public code."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paritylab.models.readouts import Readout


@dataclass(frozen=True)
class Procedure:
    """How heads are trained.

    tau: temperature, a number or a formula in n (see `temperature`). loss, readout, optimiser:
    names or the objects themselves. rate: step size. steps: how many.
    """

    tau: float | int | str = "1/n"
    loss: Any = "squared_hinge"
    readout: str | Readout = "zigzag"
    optimiser: Any = "sgd"
    rate: float | int = 0.1
    steps: int = 1000

    def __post_init__(self) -> None:
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or self.steps < 1:
            raise ValueError(f"steps must be a whole number ≥ 1, got {self.steps!r}")
        if not self.rate > 0:
            raise ValueError(f"rate must be positive, got {self.rate!r}")
        temperature(self.tau, 2)


def _paper(n: int) -> Procedure:
    """Theorem 5: plain gradient descent on the squared hinge at tau = 1/n.

    The theorem's own step size (`theory.hg1.step_size`) is of order 1e-9 and moves nothing; the
    0.1 is our choice.
    """
    return Procedure()


def _code(n: int) -> Procedure:
    """The public code: soft attention, Adam, (mean hinge)², 2000 epochs; 0.2 for n = 20."""
    rate = 0.2 if n == 20 else 0.1
    return Procedure("n/4", "mean_hinge_squared", optimiser="adam", rate=rate, steps=2000)


PRESETS: dict[str, Callable[[int], Procedure]] = {"paper": _paper, "code": _code}


def preset(name: str, n: int) -> Procedure:
    """A named procedure for n bits.

    >>> preset("code", 20).rate
    0.2
    """
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise ValueError(
            f"preset must be one of {known} (or anneal in sweeps and commands), got {name!r}"
        )
    return PRESETS[name](n)


_FORMULA = re.compile(r"(?P<top>[\d.]+)/n(?P<square>\^2|²)?|n(?:/(?P<bottom>[\d.]+))?")


def temperature(tau: float | int | str, n: int) -> float:
    """A temperature from a number or a formula: "0.5/n", "1/n^2", "n/4".

    >>> temperature("n/4", 20), temperature("1/n^2", 10)
    (5.0, 0.01)
    """
    try:
        value = float(tau)
    except ValueError:
        match = _FORMULA.fullmatch(str(tau).replace(" ", ""))
        if match is None:
            raise ValueError(
                f'tau must be a number or a formula such as "1/n", "1/n^2", "n/4", got {tau!r}'
            ) from None
        if match["top"]:
            value = float(match["top"]) / n ** (2 if match["square"] else 1)
        else:
            value = n / float(match["bottom"] or 1)
    if not 0 < value < float("inf"):
        raise ValueError(f"tau must be positive and finite, got {tau!r}")
    return value
