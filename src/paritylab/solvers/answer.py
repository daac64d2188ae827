"""What a solver answers: a subset with its evidence, or why there is none."""

from dataclasses import dataclass

from paritylab.solvers.form import Better


@dataclass(frozen=True)
class Answer:
    """The parity that rows support, or nothing.

    subset: column numbers, None if nothing is supported at the level asked for. sign: the label is
    sign·(-1)^(xor of the bits in subset). agreement: share of all rows that fit, of the best
    candidate where nothing is supported. noise_rate, noise_interval: share of rows that do not fit,
    with its 95 % interval. p_value: of "labels do not depend on the rows", given the margins of
    column and label and corrected for every subset that could have been named. equivalents: other
    subsets that say the same on these rows. better_table: another function
    of the same columns, and perhaps of two more, if one fits significantly better. uneven: what the
    rows that do not fit depend on, in one sentence, if on anything. rows_needed: where nothing is
    supported, about how many rows would support the best candidate if it were real. complete: False
    if the budget ended first.
    """

    subset: tuple[int, ...] | None
    sign: int
    agreement: float
    noise_rate: float
    noise_interval: tuple[float, float]
    p_value: float
    equivalents: tuple[tuple[int, ...], ...]
    better_table: Better | None
    uneven: str | None
    rows: int
    rows_needed: int | None
    method: str
    reason: str
    searched: str
    complete: bool
    seconds: float

    @property
    def abstained(self) -> bool:
        """Whether the rows support no subset."""
        return self.subset is None

    def __str__(self) -> str:
        if self.subset is None:
            return f"no parity found: {self.reason}"
        flipped = "" if self.sign == 1 else "not "
        names = " xor ".join(str(each) for each in self.subset)
        return f"{flipped}({names}): fits {self.agreement:.1%} of rows, p = {self.p_value:.2g}"
