"""What happened to the columns of a table while it was read, in words."""

from dataclasses import dataclass, field

from paritylab.discovery.words import counted, listed


@dataclass
class Notes:
    """What was found while reading.

    rows: used. dropped: rows left out for a missing cell. constant: columns with one value.
    twins: for a column that is used, others that equal it on every row, or (True) always differ.
    ignored: columns of text with three levels or more. thresholds: how numbers became bits.
    cut: columns of 0, 1, 2, read at both thresholds.
    hints: what text that looks like numbers may be meant as.
    """

    rows: int = 0
    dropped: int = 0
    constant: list[str] = field(default_factory=list)
    twins: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    thresholds: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The notes as sentences."""
        lines = []
        if self.dropped:
            lines.append(f"{counted(self.dropped, 'row')} with missing values left out")
        if self.thresholds:
            lines.append(f"numbers read as true above a threshold: {listed(self.thresholds, 4)}")
        for names, text in (
            (self.cut, "of 0, 1, 2, read as two bits each, above 0 and above 1"),
            (self.constant, "with one value only, left out"),
            (self.ignored, "of text with more than two levels, left out"),
        ):
            if names:
                lines.append(f"{counted(len(names), 'column')} {text}: {listed(names, 4)}")
        same = [
            f"{other} = {name}" for name, t in self.twins.items() for other, flip in t if not flip
        ]
        opposite = [
            f"{other} = not {name}" for name, t in self.twins.items() for other, flip in t if flip
        ]
        for names, text in ((same, "duplicate"), (opposite, "complementary")):
            if names:
                lines.append(f"{counted(len(names), f'{text} column')}: {listed(names, 4)}")
        return [*lines, *self.hints]
