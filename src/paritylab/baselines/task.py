"""What a solver gets and what it returns."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from paritylab.baselines.answer import Step
from paritylab.baselines.labelled_rows import LabelledRows
from paritylab.baselines.significance import Fit, fit_subsets


@dataclass
class Task:
    """Rows, the size of the set if known, the level, and how long a search may take.

    deadline: on time.perf_counter. generator: of searches that draw. progress: called with a
    fraction and a text. fits: of subsets, each computed once. start: on time.perf_counter.
    """

    table: LabelledRows
    k: int | None
    alpha: float
    deadline: float
    generator: np.random.Generator
    progress: Callable[[float, str], None] | None = None
    fits: dict[tuple[int, ...], Fit] = field(default_factory=dict)
    start: float = field(default_factory=time.perf_counter)

    def restrict(self, rows: np.ndarray, deadline: float) -> "Task":
        """The same task for some of the rows."""
        return replace(self, table=self.table.take(rows), deadline=deadline, fits={})

    @property
    def seconds_left(self) -> float:
        return self.deadline - time.perf_counter()

    def evidence(self, subsets: Iterable[tuple[int, ...]]) -> list[Fit]:
        """The evidence for the subsets that are not empty."""
        subsets = [subset for subset in dict.fromkeys(subsets) if subset]
        new = [subset for subset in subsets if subset not in self.fits]
        for fit in fit_subsets(self.table, new, self.k is not None):
            self.fits[fit.subset] = fit
        return [self.fits[subset] for subset in subsets]

    def best_supported(self, subsets: Iterable[tuple[int, ...]]) -> Fit | None:
        """The subset with the least p-value, None if it does not reach the level."""
        best = min(self.evidence(subsets), key=lambda fit: fit.log_p, default=None)
        return best if best is not None and best.log_p <= math.log(self.alpha) else None

    def report(self, fraction: float, text: str) -> None:
        if self.progress is not None:
            self.progress(fraction, text)


class Candidates(NamedTuple):
    """What a search returns: subsets as column numbers, and a record of its steps.

    covered_noise: up to which a parity of any size would most likely have been found.
    """

    subsets: list[tuple[int, ...]]
    steps: tuple[Step, ...]
    covered_noise: float = 0.0
