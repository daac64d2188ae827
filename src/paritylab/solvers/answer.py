"""What a solver answers: a subset with its evidence, or why there is none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paritylab.solvers.conclusion import BetterTable, Outcome, RestOn, Target
from paritylab.solvers.evidence import Fit
from paritylab.solvers.form import Form, p_text
from paritylab.solvers.independent_rows import RowsUsed
from paritylab.solvers.outcome import Conclusion, Search
from paritylab.solvers.outcome_text import reason_text, searched_text
from paritylab.statistics import Rate, share_text

#: The least p-value that is told.
SMALLEST = 1e-301
_LABEL = Target("the label is -1", "the label tends to be -1", "the label")


@dataclass(frozen=True)
class Answer:
    """The parity that rows support, or nothing.

    subset: column numbers, None if nothing is supported at the level asked for. sign: the label is
    sign·(-1)^(xor of the bits in subset). best: the best candidate, supported or not; its p-value
    is that of "labels do not depend on the rows", given the margins of column and label and
    corrected for every subset that could have been named. rows: of the table. equivalents: other
    subsets that say the same on these rows. near: subsets that differ in one column and fit nearly
    as well. form: what labels depend on beside the parity, and what fits better. on, off: rows
    labelled -1, of those where the parity says so, and of the others. used: the rows that all this
    rests on; `rows` counts them. rows_needed, detectable: where nothing is supported, about how
    many rows would support the best candidate if it were real, and up to which noise these rows
    would show one of its size. search: what was searched, and why it stopped.
    """

    subset: tuple[int, ...] | None
    sign: int
    best: Fit
    rows: int
    equivalents: tuple[tuple[int, ...], ...]
    near: tuple[tuple[int, ...], ...]
    form: Form
    on: Rate
    off: Rate
    used: RowsUsed
    rows_needed: int | None
    detectable: float | None
    search: Search

    @property
    def conclusion(self) -> Conclusion:
        """Whether the parity explains the label, is related to it but not only, or is none."""
        if self.subset is None:
            return Conclusion.NONE
        return Conclusion.EXPLAINS if self.form.rest is None else Conclusion.RELATED

    @property
    def abstained(self) -> bool:
        """Whether no parity explains the labels: none is supported, or it is only related."""
        return self.conclusion is not Conclusion.EXPLAINS

    def outcome(
        self,
        names: Sequence[str] | None = None,
        target: Target = _LABEL,
    ) -> Outcome:
        """The conclusion with names of columns, x0, x1, … if there are none, and of the label."""

        def named(columns: tuple[int, ...]) -> tuple[str, ...]:
            return tuple(f"x{at}" if names is None else names[at] for at in columns)

        aside = named(self.used.left_out)
        if self.subset is None:
            return Outcome(self.conclusion, target, self.used, reason=self.reason, aside=aside)
        rest, better = self.form
        return Outcome(
            self.conclusion,
            target,
            self.used,
            columns=named(self.subset),
            odd=self.sign > 0,
            on=self.on,
            off=self.off,
            p_value=self.p_value,
            rest=None
            if rest is None
            else RestOn(
                named(rest.columns), named(rest.xor), rest.off, rest.on, _chance(rest.log_p)
            ),
            better=None
            if better is None
            else BetterTable(named(better.columns), better.fits, better.parity, better.constant),
            near=tuple(named(each) for each in self.near),
            same=tuple(named(each) for each in self.equivalents),
            aside=aside,
        )

    @property
    def misses(self) -> Rate:
        """Rows that do not fit the best candidate."""
        return Rate(self.rows - self.best.fitting, self.rows)

    @property
    def agreement(self) -> float:
        """Share of all rows that fit, of the best candidate where nothing is supported."""
        return self.best.fitting / self.rows

    @property
    def noise_rate(self) -> float:
        """Share of rows that do not fit."""
        return self.misses.value

    @property
    def noise_interval(self) -> tuple[float, float]:
        """The 95 % interval of the noise rate."""
        return self.misses.interval

    @property
    def p_value(self) -> float:
        """Of the best candidate, after correction; 1e-301 stands for anything smaller."""
        return _chance(self.best.log_p)

    @property
    def method(self) -> str:
        """The method that found the subset, or all that looked for one."""
        return self.search.method

    @property
    def complete(self) -> bool:
        """False if sets that these rows could support were left out for lack of time."""
        return self.search.complete

    @property
    def seconds(self) -> float:
        """That the search took."""
        return self.search.seconds

    @property
    def searched(self) -> str:
        """What was searched, in words."""
        return searched_text(self.search)

    @property
    def reason(self) -> str:
        """Why this subset, or why none, in words."""
        if self.subset is not None:
            return reason_text(self.search)
        if self.used.too_few:
            return (
                f"only {self.used.used:,} of {self.used.total:,} rows can be called independent, "
                "too few to tell a parity from what resembles it"
            )
        if self.search.minus in (0, self.rows):
            return "all labels are equal, so nothing can depend on the columns"
        if not self.search.columns:
            return "no column changes over the rows"
        return self._best_text() if self.best.subset else reason_text(self.search)

    def _best_text(self) -> str:
        size = f"a parity of {len(self.best.subset)} columns"
        power = (
            f"these rows are too few for {size} even without noise"
            if self.detectable is None
            else f"these rows would show {size} only up to {share_text(self.detectable, 1)} noise"
        )
        return (
            f"the best candidate {self.best.subset} fits "
            f"{share_text(self.best.fitting, self.rows)} of the rows, {p_text(self.best.log_p)} "
            f"after correction; {power}"
        )

    def __str__(self) -> str:
        return str(self.outcome())


def _chance(log_p: float) -> float:
    return math.exp(min(0.0, max(log_p, math.log(SMALLEST))))
