"""What every proof stands on: a ledger of inequalities, balls for HG1's heads, bisection, LDLᵀ.

A ball of python-flint encloses a real number; `a < b` is true only if it holds for every pair of
numbers in both balls. Nothing of the rest of the package is used here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import product
from multiprocessing import get_context
from time import process_time
from typing import Any, NamedTuple

from flint import arb, fmpq

# python-flint tells type checkers nothing: these are its balls and rationals, by their roles.
Ball = Any
Number = Any
Numbers = dict[str, Any]
Row = list[Any]


class NotShownError(Exception):
    """An inequality that could not be shown."""


class WorkerDiedError(RuntimeError):
    """A process that worked on a part of a proof ended before it had an answer."""


class Proof:
    """Inequalities in the order in which they were shown; the first that fails ends the proof.

    reverse: the number of an inequality to be turned round, for tests. report: told now and then
    how much of the work is done, from 0 to 1. jobs: processes that `spread` may use; `elsewhere`
    is the processor time that they took.
    """

    def __init__(
        self,
        reverse: int | None = None,
        report: Callable[[float], None] = lambda share: None,
        jobs: int = 1,
    ) -> None:
        self.steps: list[tuple[str, str]] = []
        self.reverse, self.report, self.jobs, self.elsewhere = reverse, report, jobs, 0.0

    def less(self, words: str, left: Any, right: Any) -> None:
        """left < right, certainly."""
        if self.turned:
            left, right = right, left
        self._note(words, f"{text(left)} < {text(right)}", bool(left < right))

    def at_most(self, words: str, left: Any, right: Any) -> None:
        """left ≤ right for integers and rationals; turned round it is left > right."""
        exactly(left, right)
        self._note(words, f"{left} ≤ {right}", bool((left <= right) != self.turned))

    def equal(self, words: str, left: Any, right: Any) -> None:
        """left = right for integers, rationals and tuples of them."""
        exactly(left, right)
        self._note(words, f"{left} = {right}", bool((left == right) != self.turned))

    def everywhere(
        self,
        words: str,
        boxes: Iterable[Any],
        shown: Callable[[Any], bool],
        halves: Callable[[Any], Sequence[Any] | None],
    ) -> int:
        """`shown` holds on every box, each bisected as often as needed; how many leaves it took.

        halves: parts that together cover a box, or None if it is too small to be cut again. Turned
        round, the first box on which it is shown is one on which its opposite is not.
        """
        turned, leaves, pending = self.turned, 0, list(boxes)
        if not pending:
            raise NotShownError(f"{words}: nothing to look at")
        while pending:
            box = pending.pop()
            parts = None
            if not shown(box):
                parts = halves(box)
            elif not turned:
                leaves += 1
                continue
            if parts is None:
                raise NotShownError(f"{words}: not on {box}")
            pending.extend(parts)
        self._note(words, f"{leaves} boxes", True)
        return leaves

    def parts_inside(
        self, side: Callable[[Any], int], box: Any, halves: Callable[[Any], Any], depth: int
    ) -> tuple[list[tuple[Any, int]], list[tuple[Any, int]]]:
        """Parts of a box where side is 1, and where it is not known after `depth` cuts.

        side: 1 if the inequality holds on a whole box, -1 if it fails on all of it, 0 otherwise.
        Each part comes with its number of cuts; a cut halves the volume.
        """
        pending = [(box, 0)]
        inside: list[tuple[Any, int]] = []
        unknown: list[tuple[Any, int]] = []
        while pending:
            part, cuts = pending.pop()
            found = side(part)
            if found > 0:
                inside.append((part, cuts))
            elif not found and cuts == depth:
                unknown.append((part, cuts))
            elif not found:
                pending.extend((each, cuts + 1) for each in halves(part))
        return inside, unknown

    def spread(
        self, function: Callable[..., Any], tasks: Sequence[Any], noted: int, until: float = 1.0
    ) -> list[Any]:
        """function(ledger, *task) for every task, side by side in `jobs` processes.

        Each task gets a ledger of its own and notes so many steps (`noted`) in it; they are
        appended here in the tasks' order. What it returns comes back in that order, too. function
        must be a module's own and tasks must pickle. until: the share of the work then done.
        WorkerDiedError if one of the processes is killed.
        """
        left = None if self.reverse is None else self.reverse - len(self.steps)
        work = [
            (function, task, None if left is None else left - noted * at)
            for at, task in enumerate(tasks)
        ]
        if self.jobs == 1:
            return self._gathered(map(_apart, work), len(work), until, 0)
        workers = min(self.jobs, len(work))
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        try:
            return self._gathered(pool.map(_apart, work), len(work), until, 1)
        except BrokenProcessPool:
            raise WorkerDiedError(
                "a worker process of a proof died before it had an answer: killed, or out of memory"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)

    def _gathered(self, done: Iterable[Any], count: int, until: float, away: int) -> list[Any]:
        values = []
        for value, steps, failure, seconds in done:
            self.steps.extend(steps)
            self.elsewhere += away * seconds
            if failure:
                raise NotShownError(failure)
            values.append(value)
            self.report(until * len(values) / count)
        return values

    @property
    def turned(self) -> bool:
        """Whether the step that is noted next is to be turned round."""
        return self.reverse == len(self.steps)

    def _note(self, words: str, enclosure: str, shown: bool) -> None:
        if not shown:
            raise NotShownError(f"{words}: {enclosure}")
        self.steps.append((words, enclosure))


def _apart(work: tuple[Callable[..., Any], Any, int | None]) -> tuple[Any, Any, str, float]:
    """One task of `spread`: its value, its steps, what it could not show, its processor time."""
    function, task, reverse = work
    proof, start, value, failure = Proof(reverse), process_time(), None, ""
    try:
        value = function(proof, *task)
    except (NotShownError, ArithmeticError) as error:
        failure = str(error) or type(error).__name__
    return value, proof.steps, failure, process_time() - start


def exactly(*numbers: Any) -> None:
    """Refuse floats and balls where only exact numbers have a meaning."""
    for number in numbers:
        if isinstance(number, tuple):
            exactly(*number)
        elif not isinstance(number, int | fmpq):
            raise TypeError(f"expected an integer or a rational, got {type(number).__name__}")


def text(value: Any) -> str:
    """A number for a reader: short decimals for a ball, digits as they are otherwise."""
    return value.str(6) if isinstance(value, arb) else str(value)


def hull(low: Any, high: Any) -> Ball:
    """The smallest ball that holds both numbers."""
    return arb(low).union(arb(high))


def total(values: Iterable[Any]) -> Any:
    """The sum, of balls, rationals or integers."""
    result: Any = 0
    for value in values:
        result = value + result
    return result


# Heads on the circle, as in HG1's equations (2) and (3).


def circle(n: int) -> list[tuple[Ball, Ball]]:
    """Positions (sin 2πj/n, cos 2πj/n), j = 0 … n - 1."""
    return [arb.sin_cos_pi_fmpq(fmpq(2 * j, n)) for j in range(n)]


def softmax(scores: Sequence[Ball]) -> list[Ball]:
    """γ_j = 1/Σ_i exp(s_i - s_j): each weight by differences, so that wide balls stay narrow."""
    return [1 / total((other - own).exp() for other in scores) for own in scores]


class Bend(NamedTuple):
    """The readout ŷ and its first two derivatives at z."""

    value: Ball
    slope: Ball
    curvature: Ball


def readout(z: Ball, k: int, b: Any) -> Bend:
    """ŷ(z) = 1 + Σ_q (-1)^q (8q - 4) σ(z - q + 1/2), σ(t) = (t + √(t² + b))/2, with derivatives."""
    value, slope, curvature = arb(1), arb(0), arb(0)
    for q in range(1, k + 1):
        t = z - q + arb(1) / 2
        root = (t * t + arb(b)).sqrt() if b else abs(t)
        factor = (-1) ** q * (8 * q - 4)
        value += factor * (t + root) / 2
        if not root.contains(0):
            slope += factor * (1 + t / root) / 2
            curvature += factor * arb(b) / (2 * root**3)
        else:
            slope, curvature = slope + factor * hull(0, 1), arb.nan()
    return Bend(value, slope, curvature)


class Loss(NamedTuple):
    """(1 - yŷ(z))₊² and its derivatives in z; at the kink the second is the hull of both sides."""

    value: Ball
    slope: Ball
    curvature: Ball


def squared_hinge(z: Ball, y: int, k: int, b: Any) -> Loss:
    """The loss of an input with attended sum z and label y."""
    bend = readout(z, k, b)
    open_side = 1 - y * bend.value
    gap = open_side.max(arb(0))
    active = arb(1) if open_side > 0 else arb(0) if open_side < 0 else hull(0, 1)
    curvature = 2 * active * bend.slope**2 - 2 * y * gap * bend.curvature
    return Loss(gap * gap, -2 * y * gap * bend.slope, curvature)


def inputs(n: int) -> Iterator[tuple[int, ...]]:
    """Every string of n bits."""
    return product((0, 1), repeat=n)


def label(x: Sequence[int], subset: Iterable[int]) -> int:
    """f_B(x) = Π_{i ∈ B} (-1)^{x_i}."""
    return 1 - 2 * (sum(x[i] for i in subset) % 2)


class Heads:
    """k masked heads (a₁₃, a₁₄) over n positions: attention, and means under it."""

    def __init__(self, directions: Sequence[Sequence[Any]], n: int, tau: Any) -> None:
        self.places, self.tau = circle(n), arb(tau)
        self.attention = [
            softmax([(arb(a[0]) * s + arb(a[1]) * c) / self.tau for s, c in self.places])
            for a in directions
        ]

    def attended(self, x: Sequence[int]) -> Ball:
        """z = Σ_i Σ_j γ_j^(i) x_j."""
        return total(
            g for row in self.attention for g, bit in zip(row, x, strict=True) if bit
        ) + arb(0)

    def moments(self) -> list[list[tuple[Ball, Row]]]:
        """For each head and position γ_j and p_j - μ, μ the mean position."""
        rows = []
        for row in self.attention:
            mean = [total(g * p[c] for g, p in zip(row, self.places, strict=True)) for c in (0, 1)]
            rows.append(
                [
                    (g, [p[0] - mean[0], p[1] - mean[1]])
                    for g, p in zip(row, self.places, strict=True)
                ]
            )
        return rows

    def slope(self, x: Sequence[int], rows: list[list[tuple[Ball, Row]]]) -> Row:
        """∂z/∂a, all heads: Cov(x, p)/τ under each head's attention."""
        return [
            total(g * p[c] for (g, p), bit in zip(row, x, strict=True) if bit) / self.tau + arb(0)
            for row in rows
            for c in (0, 1)
        ]

    def bend(self, x: Sequence[int], rows: list[list[tuple[Ball, Row]]]) -> list[Row]:
        """∂²z/∂a² of each head, entries (11, 12, 22): E[(x - m)(p - μ)(p - μ)ᵀ]/τ²."""
        found = []
        for row in rows:
            mean = total(g for (g, _), bit in zip(row, x, strict=True) if bit) + arb(0)
            weights = [g * (bit - mean) for (g, _), bit in zip(row, x, strict=True)]
            found.append(
                [
                    total(w * p[c] * p[d] for w, (_, p) in zip(weights, row, strict=True))
                    / self.tau**2
                    for c, d in ((0, 0), (0, 1), (1, 1))
                ]
            )
        return found


class Risk(NamedTuple):
    """Risk, gradient and Hessian over all inputs."""

    value: Ball
    gradient: Row
    hessian: list[Row]


def risk(
    directions: Sequence[Sequence[Any]], n: int, subset: Sequence[int], tau: Any, b: Any
) -> Risk:
    """The expected squared hinge of k = |B| heads, with derivatives in closed form."""
    heads, k = Heads(directions, n, tau), len(subset)
    rows, size = heads.moments(), 2 * len(directions)
    value, gradient = arb(0), [arb(0)] * size
    hessian = [[arb(0)] * size for _ in range(size)]
    for x in inputs(n):
        loss = squared_hinge(heads.attended(x), label(x, subset), k, b)
        slope = heads.slope(x, rows)
        value += loss.value
        gradient = [g + loss.slope * s for g, s in zip(gradient, slope, strict=True)]
        for i in range(size):
            for j in range(size):
                hessian[i][j] += loss.curvature * slope[i] * slope[j]
        for h, (xx, xy, yy) in enumerate(heads.bend(x, rows)):
            for i, j, entry in ((0, 0, xx), (0, 1, xy), (1, 0, xy), (1, 1, yy)):
                hessian[2 * h + i][2 * h + j] += loss.slope * entry
    count = 2**n
    return Risk(
        value / count,
        [g / count for g in gradient],
        [[entry / count for entry in row] for row in hessian],
    )


def pivots(matrix: Sequence[Sequence[Ball]]) -> Iterator[Ball]:
    """The pivots D of LDLᵀ; a symmetric matrix with positive pivots is positive definite."""
    rest = [list(row) for row in matrix]
    while rest:
        pivot = rest[0][0]
        yield pivot
        rest = [
            [entry - row[0] * top / pivot for entry, top in zip(row[1:], rest[0][1:], strict=True)]
            for row in rest[1:]
        ]


def norm(vector: Iterable[Ball]) -> Ball:
    """The Euclidean length."""
    return total(v * v for v in vector).nonnegative_part().sqrt()
