"""Rigorous bounds of HG1's risk over boxes of two heads in polar form, in whole numbers.

The risk is a mean over inputs of φ_y(z), z = Σ_j g_j x_j, g the sum of both heads' attention. About
a point ẑ of a grid φ(z) ≥ φ(ẑ) + φ'(ẑ)(z - ẑ) - κD²/2 where |z - ẑ| ≤ D and φ'' ≥ -κ; φ, φ' and κ
are tabulated from balls. The terms φ'(ẑ)(z - ẑ) add up to one that is linear in the attention, and
that one is bounded by the derivatives of attention over the box.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from flint import arb, fmpq

from paritylab.proofs.kernel import Ball, hull, squared_hinge, total

#: 1 as a whole number, and points of the grid per 1.
UNIT, GRID = 1 << 40, 1 << 12


def floor(ball: Ball) -> int:
    """The largest whole number below a ball, in units."""
    return int((ball * UNIT).lower().floor().unique_fmpz())


def ceil(ball: Ball) -> int:
    return -floor(-ball)


class Table(NamedTuple):
    """φ(z) ≥ value + slope·(z - ẑ) - bend·(z - ẑ)²/2 about each grid point ẑ, or ≤ with a plus."""

    value: list[int]
    slope: list[int]
    bend: list[int]


class Losses:
    """Tables of the squared hinge for both labels, k neurons and smoothing b."""

    def __init__(self, k: int, b: Any) -> None:
        self.k, self.b, self.size = k, b, k * GRID + 16
        self.within, self._points = cache(self._within), cache(self._at)
        self._cells = cache(self._over)

    def _at(self, y: int) -> list[tuple[int, int, int]]:
        """For each grid point: floor and ceiling of φ, and φ'."""
        rows = []
        for i in range(self.size):
            loss = squared_hinge(arb(fmpq(i, GRID)), y, self.k, self.b)
            slope = floor(loss.slope)
            if not abs(loss.slope * UNIT - slope) < 2:
                raise ArithmeticError("the precision does not reach two units")
            # A deviation is at most 1, so the slope's rounding moves a value by two units.
            rows.append((floor(loss.value) - 2, ceil(loss.value) + 2, slope))
        return rows

    def _over(self, y: int, sign: int) -> tuple[list[int], list[int]]:
        """For each cell of the grid, the least of sign·φ and a whole number below sign·φ''."""
        cells = [hull(fmpq(i, GRID), fmpq(i + 1, GRID)) for i in range(self.size)]
        losses = [squared_hinge(z, y, self.k, self.b) for z in cells]
        return [floor(sign * v.value) for v in losses], [
            min(0, floor(sign * v.curvature) // UNIT) for v in losses
        ]

    def _within(self, y: int, reach: int, upper: int) -> Table:
        """The table for deviations of at most `reach` cells either way.

        By Taylor's formula, or, where that is worse, by the extreme of φ over the window.
        """
        sign = -1 if upper else 1
        flat, curved = (_least_near(cells, reach) for cells in self._cells(y, sign))
        rows = []
        for (low, high, slope), least, bend in zip(self._points(y), flat, curved, strict=True):
            value = high if upper else low
            lost = -bend * reach * reach * UNIT // (2 * GRID * GRID)
            if sign * value - lost < least:
                rows.append((sign * least, 0, 0))
            else:
                rows.append((value, slope, -bend))
        return Table(*(list(column) for column in zip(*rows, strict=True)))


def _least_near(cells: list[int], reach: int) -> list[int]:
    """The least of cells i - reach … i + reach - 1, those that are that close to grid point i."""
    best, width, last = cells, 1, len(cells) - 1
    while width <= reach:
        best = [min(best[i], best[min(i + width, last)]) for i in range(len(cells))]
        width *= 2
    starts = (max(0, i - reach) for i in range(len(cells)))
    ends = (max(0, min(len(cells), i + reach) - width) for i in range(len(cells)))
    return [min(best[a], best[b]) for a, b in zip(starts, ends, strict=True)]


class Cell(NamedTuple):
    """A box of one head: norm r and angle t·π, t counted from position 0; r1 None: to infinity.

    Past the norm `far` attention is a share s, between two neighbours, of all but a small mass:
    then r0 is None, (t0, t1) bounds s, place is the nearest position and side (±1) its neighbour.
    """

    r0: Any
    r1: Any
    t0: Any
    t1: Any
    place: int = 0
    side: int = 0


class Attention(NamedTuple):
    """Of a box, in units: at its middle, how far each coordinate moves it (middle and radius of the
    derivative times half the width), mass that may move anywhere, and how far the sum over an input
    may be from what the middles of the derivatives say, and the width in each coordinate."""

    middle: list[int]
    moves: list[tuple[list[int], list[int]]]
    loose: int
    stray: int
    widths: list[int]


class Pairs:
    """Bounds of the risk of two heads over boxes, for B of two positions and τ."""

    def __init__(self, n: int, subset: Sequence[int], tau: Any, b: Any, far: Any) -> None:
        self.n, self.subset, self.tau, self.far = n, tuple(subset), tau, far
        self.losses = Losses(2, b)
        self.others = [j for j in range(n) if j not in self.subset]
        self.attention = cache(self._attention)

    @cached_property
    def loose(self) -> Ball:
        """The most attention outside the two nearest positions from norm `far` on."""
        worst = arb(0)
        for piece in range(16):
            angle = hull(fmpq(piece, 16 * self.n), fmpq(piece + 1, 16 * self.n))
            near = angle.cos_pi()
            gaps = [near - (angle - fmpq(2 * j, self.n)).cos_pi() for j in range(2, self.n)]
            worst = worst.max(total((-arb(self.far) * gap / self.tau).exp() for gap in gaps))
        return worst

    def _attention(self, cell: Cell) -> Attention:
        if cell.r0 is None:
            return self._far_attention(cell)
        middle = self._softmax(arb((cell.r0 + cell.r1) / 2), arb((cell.t0 + cell.t1) / 2))
        r, t = hull(cell.r0, cell.r1), hull(cell.t0, cell.t1)
        wide = self._softmax(r, t)
        moves = []
        for half, angular in ((cell.r1 - cell.r0) / 2, False), ((cell.t1 - cell.t0) / 2, True):
            if half:
                factor = arb(half) * (r * arb.pi() if angular else 1) / self.tau
                moves.append(_in_units([factor * d for d in self._derivative(wide, t, angular)]))
        # Derivatives add up to 0; their middles need not.
        stray = sum(sum(rads) // 2 + abs(sum(mids)) for mids, rads in moves)
        apart = [ceil(abs(w - g).upper()) for w, g in zip(wide, middle, strict=True)]
        widths = [sum(map(abs, mids)) + sum(rads) for mids, rads in moves]
        if 2 * stray > sum(apart):
            # The box is wide: how far each weight is from the middle says more.
            moves, stray = [([0] * self.n, apart)], sum(apart) // 2
        return Attention([floor(g) for g in middle], moves, 0, stray + 2 * self.n, widths)

    def _differences(self, t: Ball, angular: bool) -> Any:
        """Score i - score j at norm 1/2, or its derivative in the angle: one sine of the angle and
        one of the distance, so that wide balls stay narrow."""
        n = self.n
        angles = [t - fmpq(m, n) for m in range(2 * n - 1)]
        turns = [angle.cos_pi() if angular else angle.sin_pi() for angle in angles]
        steps = [arb.sin_pi_fmpq(fmpq(m, n)) for m in range(n)]
        return lambda i, j: turns[i + j] * (steps[i - j] if i >= j else -steps[j - i])

    def _softmax(self, r: Ball, t: Ball) -> list[Ball]:
        n, scale, above = self.n, 2 * r / self.tau, self._differences(t, False)
        # Each sum has exp(0) = 1 among its terms; a wide ball would forget that it is positive.
        sums = [total((scale * above(i, j)).exp() for i in range(n)) for j in range(n)]
        return [hull(1 / s.upper(), 1 / s.lower().max(arb(1))) for s in sums]

    def _derivative(self, attention: list[Ball], t: Ball, angular: bool) -> list[Ball]:
        """γ_j(c_j - Σ_i γ_i c_i), c the score's derivative at norm 1 less that of the peak."""
        peak = max(range(self.n), key=lambda j: attention[j].mid())
        above = self._differences(t, angular)
        scores = [2 * above(j, peak) for j in range(self.n)]
        mean = total(g * s for g, s in zip(attention, scores, strict=True))
        return [g * (s - mean) for g, s in zip(attention, scores, strict=True)]

    def _far_attention(self, cell: Cell) -> Attention:
        middle, loose = [0] * self.n, ceil(self.loose)
        share, half = (cell.t0 + cell.t1) / 2, (cell.t1 - cell.t0) / 2
        here, beside = cell.place, (cell.place + cell.side) % self.n
        middle[here], middle[beside] = floor(arb(share)), floor(1 - arb(share))
        step = [0] * self.n
        step[here], step[beside] = ceil(arb(half)), -ceil(arb(half))
        moves = [(step, [2 if s else 0 for s in step])] if half else []
        widths = [2 * max(step)] if half else []
        return Attention(middle, moves, loose, loose + 4 * self.n, widths)

    def low(self, first: Cell, second: Cell) -> int | None:
        """A lower bound of the risk times 2^n, in units; None if the boxes are too wide."""
        return self._bound(self.attention(first), self.attention(second), 0)

    def high(self, first: Cell, second: Cell) -> int | None:
        """An upper bound of the same."""
        return self._bound(self.attention(first), self.attention(second), 1)

    def _bound(self, one: Attention, two: Attention, upper: int) -> int | None:
        cell = UNIT // GRID
        both = [a + b for a, b in zip(one.middle, two.middle, strict=True)]
        weights = [(g + cell // 2) // cell for g in both]
        off = [g - w * cell for g, w in zip(both, weights, strict=True)]
        rounding = max(sum(o for o in off if o > 0), -sum(o for o in off if o < 0))
        moves = one.moves + two.moves
        # What no direction accounts for: radii of derivatives, loose mass, rounding.
        stray = one.stray + two.stray + rounding
        reach = stray + sum(sum(map(abs, mids)) for mids, _ in moves) // 2 + len(moves)
        cells = _step(reach // cell + 1)
        if cells > GRID // 2:
            return None
        value = bent = 0
        rows = []
        sums = self._sums(weights)
        drift = [self._sums(mids) for mids, _ in moves]
        p, q = self.subset
        for y, bits in ((1, ()), (-1, (p,)), (-1, (q,)), (1, (p, q))):
            values, slope, bends = self.losses.within(y, cells, upper)
            shift = sum(weights[j] for j in bits)
            at = [s + shift for s in sums] if shift else sums
            value += sum([values[i] for i in at])
            rows.append([slope[i] for i in at])
            deviation = [stray] * len(at)
            for (mids, _), column in zip(moves, drift, strict=True):
                extra = sum(mids[j] for j in bits)
                deviation = [d + abs(c + extra) for d, c in zip(deviation, column, strict=True)]
            bent += sum([bends[i] * d * d for i, d in zip(at, deviation, strict=True)])
        bent = bent // (2 * UNIT) + 1
        slopes = self._gather(rows)
        change = sum(s * o for s, o in zip(slopes, off, strict=True)) // UNIT
        # Middles are rounded down by less than a unit at each position.
        swing = 2 * self.n * max(map(abs, slopes)) // UNIT + 1
        # The other deviations of attention add up to 0, so one number may be taken off all slopes.
        level = (max(slopes) + min(slopes)) // 2
        slopes = [s - level for s in slopes]
        swing += _swing(slopes, one) + _swing(slopes, two) + bent
        return value + change + swing + 1 if upper else value + change - swing - 1

    def _sums(self, weights: list[int]) -> list[int]:
        """Sums of weights over every set of positions outside B."""
        sums = [0]
        for j in self.others:
            sums += [s + weights[j] for s in sums]
        return sums

    def _gather(self, rows: list[list[int]]) -> list[int]:
        """Σ_x φ'·x_j for every position j, from the rows x_B = 00, 10, 01, 11."""
        slopes = [0] * self.n
        slopes[self.subset[0]] = sum(rows[1]) + sum(rows[3])
        slopes[self.subset[1]] = sum(rows[2]) + sum(rows[3])
        row = [a + b + c + d for a, b, c, d in zip(*rows, strict=True)]
        for j in reversed(self.others):
            half = len(row) // 2
            slopes[j] = sum(row[half:])
            row = [a + b for a, b in zip(row[:half], row[half:], strict=True)]
        return slopes

    def halves(self, first: Cell, second: Cell) -> list[tuple[Cell, Cell]]:
        """Two pairs of boxes that cover this one, cut where attention moves most."""
        moved = [(w, 0, c) for c, w in self._widths(first)]
        moved += [(w, 1, c) for c, w in self._widths(second)]
        _, which, coordinate = max(moved)
        parts = _cut((first, second)[which], coordinate)
        return [(part, second) if which == 0 else (first, part) for part in parts]

    def parts(self, first: Cell, second: Cell, coarse: bool) -> list[tuple[Cell, Cell]] | None:
        """Two parts, or four where the bound was so far off that two would not help; None where
        attention moves so little that no cut can help."""
        moved = [w for cell in (first, second) for _, w in self._widths(cell)]
        if max(moved, default=0) < UNIT // 1000:
            return None
        found = self.halves(first, second)
        return [part for half in found for part in self.halves(*half)] if coarse else found

    def _widths(self, cell: Cell) -> list[tuple[str, int]]:
        names = [
            name
            for name, low, high in (("r", cell.r0, cell.r1), ("t", cell.t0, cell.t1))
            if low is not None and low != high
        ]
        return list(zip(names, self.attention(cell).widths, strict=True))


def _in_units(balls: list[Ball]) -> tuple[list[int], list[int]]:
    middles = [floor(b.mid()) for b in balls]
    return middles, [ceil(b.rad()) + 2 for b in balls]


def _swing(slopes: list[int], box: Attention) -> int:
    """How far the term that is linear in attention moves over a box, at most, rounded up."""
    found = box.loose * (max(slopes) - min(slopes))
    for mids, rads in box.moves:
        found += abs(sum(s * m for s, m in zip(slopes, mids, strict=True)))
        found += sum(abs(s) * w for s, w in zip(slopes, rads, strict=True))
    return found // UNIT + 1


def _step(reach: int) -> int:
    """The least of 1, 2, 3, 4, 6, 8, 12, … that is not smaller, so that few tables are needed."""
    power = 1 << max(0, reach - 1).bit_length()
    return 3 * power // 4 if power >= 4 and 3 * power // 4 >= reach else power


def _cut(cell: Cell, coordinate: str) -> list[Cell]:
    if coordinate == "r":
        middle = (cell.r0 + cell.r1) / 2
        return [cell._replace(r1=middle), cell._replace(r0=middle)]
    middle = (cell.t0 + cell.t1) / 2
    return [cell._replace(t1=middle), cell._replace(t0=middle)]
