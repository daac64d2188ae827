"""What a solver answers: a subset with its evidence, or why there is none."""

import math
from dataclasses import dataclass

from paritylab.solvers.evidence import Fit
from paritylab.solvers.form import Better, Uneven, p_text
from paritylab.solvers.outcome import Conclusion, Search
from paritylab.solvers.outcome_text import reason_text, searched_text
from paritylab.statistics import Rate, share_text


@dataclass(frozen=True)
class Answer:
    """The parity that rows support, or nothing.

    subset: column numbers, None if nothing is supported at the level asked for. sign: the label is
    sign·(-1)^(xor of the bits in subset). best: the best candidate, supported or not; its p-value
    is that of "labels do not depend on the rows", given the margins of column and label and
    corrected for every subset that could have been named. rows: of the table. equivalents: other
    subsets that say the same on these rows. better_table: another function of the same columns, and
    perhaps of two more, if one fits significantly better. uneven: what the rows that do not fit
    depend on, if on anything. rows_needed, detectable: where nothing is supported, about how many
    rows would support the best candidate if it were real, and up to which noise these rows would
    show one of its size. search: what was searched, and why it stopped.
    """

    subset: tuple[int, ...] | None
    sign: int
    best: Fit
    rows: int
    equivalents: tuple[tuple[int, ...], ...]
    better_table: Better | None
    uneven: Uneven | None
    rows_needed: int | None
    detectable: float | None
    search: Search

    @property
    def conclusion(self) -> Conclusion:
        """Whether the parity explains the label, is related to it but not only, or is none."""
        if self.subset is None:
            return Conclusion.NONE
        return Conclusion.EXPLAINS if self.better_table is None else Conclusion.RELATED

    @property
    def abstained(self) -> bool:
        """Whether the rows support no subset."""
        return self.subset is None

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
        """Of the best candidate, after correction."""
        return math.exp(min(0.0, self.best.log_p))

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
        if self.subset is None:
            return f"no parity found: {self.reason}"
        flipped = "" if self.sign == 1 else "not "
        names = " xor ".join(str(each) for each in self.subset)
        fits = f"fits {share_text(self.best.fitting, self.rows)} of rows, {p_text(self.best.log_p)}"
        text = f"{flipped}({names}): {fits}"
        return text if self.better_table is None else f"{text}; but {self.better_table}"
