"""Theorem 5 fails with a probability: two heads from random angles stay at risk 1 or more.

Theorem. Squared hinge over all inputs, masked heads, k = 2. Let every head's plane be cut into n
sectors by the rays midway between positions; a cell is a sector for each head. Suppose that the
risk is above 1 on every cell of positive height, and above the larger of both heights on the face
between any two cells of different heights. Then from a start whose risk is below the height of its
cell, gradient flow, and gradient descent with any step in (0, 2/M], keep the risk at 1 or more for
ever.

Proof. Every second derivative of the risk is at most M (`_smooth`). So the risk on the segment from
an iterate to the next, and along the flow, is never above that of the start, R. Let U be the union
of the closed cells of height above R. The path starts in U. Where it would leave U it is in a cell
u of U and in a cell v outside U at once. Sectors that are not neighbours meet in the origin only,
where all rays meet; so u and v are joined by cells that contain the point, each next to the last
one, through faces that contain it, and one of these faces is between a height above R and one that
is not. There the risk is above R, a contradiction. So the path stays in U, where the risk is above
1. ∎
"""

from flint import arb, fmpq

from paritylab.proofs.kernel import Number, Numbers, Proof, hull, readout
from paritylab.proofs.pairs import UNIT, Cell, Pairs

PRINTED = "fails"
TITLE = "Gradient descent stays at risk 1 or more for ever with probability at least 1/4"
#: The share of starts that the statement speaks of, and what this argument does not exceed.
AT_LEAST, LESS_THAN = fmpq(1, 4), fmpq(28, 100)
SETTING = {"n": 8, "B": [0, 3], "tau": "1/8", "b": "1/100"}
#: far: norm from which attention is two positions. depth: cuts of an angle at the start.
WITNESS = ("far", "M", "heights", "depth")
SECONDS = 550


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, subset, tau, b = (setting[name] for name in ("n", "B", "tau", "b"))
    heights = witness["heights"]
    pairs = Pairs(n, subset, tau, b, fmpq(witness["far"]))
    _smooth(proof, witness["M"], tau, b)
    _symmetric(proof, heights, sum(subset), n)
    proof.less("attention outside two positions from the far norm on", pairs.loose, fmpq(1, 1000))
    _starts(proof, pairs, heights, witness["depth"])
    _faces(proof, pairs, heights)
    _cells(proof, pairs, heights)


def _smooth(proof: Proof, most: int, tau: Number, b: Number) -> None:
    """Second derivatives of the risk, by ‖∂z‖² ≤ 2/(4τ²) and ‖∂²z‖ ≤ 1/τ².

    z = m₁ + m₂, ∂m = Cov(x, p)/τ and ∂²m = E[(x - m)(p - μ)(p - μ)ᵀ]/τ², with |p| = 1, 0 ≤ x ≤ 1:
    the deviation of x is at most 1/2, the variance of p in any direction at most 1, |x - m| ≤ 1.
    """
    square, second = 1 / (2 * tau**2), 1 / tau**2

    def shown(box: tuple[Number, Number, int]) -> bool:
        bend = readout(hull(box[0], box[1]), 2, b)
        slope, gap = abs(bend.slope), (1 - box[2] * bend.value).max(arb(0))
        curved = slope**2 * square + gap * (abs(bend.curvature) * square + slope * second)
        return bool(2 * curved < most)

    boxes = [(fmpq(i, 64), fmpq(i + 1, 64), y) for i in range(128) for y in (1, -1)]
    words = f"every second derivative of the risk is below M = {most}, 0 ≤ z ≤ 2"
    proof.everywhere(words, boxes, shown, _halves_of_interval)
    proof.less("the step of the paper's proof is below 2/M", _printed_step(tau, b), fmpq(2, most))


def _printed_step(tau: Number, b: Number) -> Number:
    """η = 1/max{2l₁C, 2(l₂ + B)} of Lemmas 7, 14, 15, 16 at k = 2."""
    k, root = 2, arb(b).sqrt()
    entry = 20 / arb(tau) ** 2 + 32 * k**2 / (arb(tau) ** 2 * root)
    slope = 8 * k**2 / arb(tau)
    product = arb(2 * k).sqrt() * (4 * k**3 * entry + slope**2)
    return 1 / (2 * slope**2 * 2 * k).max(2 * (product + 2 * k * entry))


def _halves_of_interval(box: tuple[Number, Number, int]) -> list[tuple[Number, Number, int]] | None:
    low, high, y = box
    middle = (low + high) / 2
    return None if high - low < fmpq(1, 10**6) else [(low, middle, y), (middle, high, y)]


def _symmetric(proof: Proof, heights: list[list[Number]], turn: int, n: int) -> None:
    """The risk does not change if the heads change places, or if every position j becomes
    i + i' - j, B = {i, i'}, a reflection of the circle; nor may the heights."""
    cells = [(p, q) for p in range(n) for q in range(n)]
    swapped = sum(heights[p][q] != heights[q][p] for p, q in cells)
    mirrored = sum(heights[p][q] != heights[(turn - p) % n][(turn - q) % n] for p, q in cells)
    proof.equal("cells whose height changes if the heads change places", swapped, 0)
    proof.equal("cells whose height changes under the reflection that keeps B", mirrored, 0)


def sector(pairs: Pairs, q: int) -> list[Cell]:
    """All directions nearest to position q: up to the far norm, and beyond on either side."""
    half, one = fmpq(1, 2), fmpq(1)
    near = Cell(fmpq(0), pairs.far, fmpq(2 * q - 1, pairs.n), fmpq(2 * q + 1, pairs.n))
    return [near, *(Cell(None, None, half, one, q, side) for side in (1, -1))]


def ray(pairs: Pairs, p: int) -> list[Cell]:
    """The directions midway between positions p and p + 1."""
    angle, half = fmpq(2 * p + 1, pairs.n), fmpq(1, 2)
    return [Cell(fmpq(0), pairs.far, angle, angle), Cell(None, None, half, half, p, 1)]


def _above(
    proof: Proof, pairs: Pairs, words: str, first: list[Cell], second: list[Cell], level: Number
) -> None:
    least = _in_units(level, pairs.n)

    def shown(box: tuple[Cell, Cell]) -> bool:
        found = pairs.low(*box)
        return found is not None and found > least

    def halves(box: tuple[Cell, Cell]) -> Number:
        return None if pairs.tiny(*box) else pairs.halves(*box)

    proof.everywhere(words, [(u, v) for u in first for v in second], shown, halves)


def _in_units(level: Number, n: int) -> int:
    scaled = fmpq(level) * UNIT * 2**n
    return int(-(-scaled.p // scaled.q))


def _faces(proof: Proof, pairs: Pairs, heights: list[list[Number]]) -> None:
    """Head 1 on a ray, head 2 in a sector, one of each two faces that the reflection exchanges."""
    n, turn, seen = pairs.n, sum(pairs.subset), set()
    for p in range(n):
        for q in range(n):
            level = max(heights[p][q], heights[(p + 1) % n][q])
            if heights[p][q] == heights[(p + 1) % n][q] or (p, q) in seen:
                continue
            seen.add(((turn - p - 1) % n, (turn - q) % n))
            words = (
                f"risk above {level}, head 1 midway between {p} and {p + 1}, head 2 nearest to {q}"
            )
            _above(proof, pairs, words, ray(pairs, p), sector(pairs, q), level)
            proof.report((p + q / n) / n / 2)


def _orbit(p: int, q: int, turn: int, n: int) -> set[tuple[int, int]]:
    mirrored = ((turn - p) % n, (turn - q) % n)
    return {(p, q), (q, p), mirrored, mirrored[::-1]}


def _cells(proof: Proof, pairs: Pairs, heights: list[list[Number]]) -> None:
    """Above 1 on cells of positive height, up to both symmetries."""
    n, turn, seen = pairs.n, sum(pairs.subset), set()
    for p in range(n):
        for q in range(n):
            if heights[p][q] > 0 and (p, q) not in seen:
                seen |= _orbit(p, q, turn, n)
                words = f"risk above 1, heads nearest to {p} and {q}"
                _above(proof, pairs, words, sector(pairs, p), sector(pairs, q), 1)
                proof.report((1 + len(seen) / n**2) / 2)


def _starts(proof: Proof, pairs: Pairs, heights: list[list[Number]], depth: int) -> None:
    """The share of pairs of angles at norm 1 whose risk is below the height of their cell."""
    n, turn, seen = pairs.n, sum(pairs.subset), set()
    inside = unknown = fmpq(0)
    for p in range(n):
        for q in range(n):
            if (p, q) in seen:
                continue
            orbit = _orbit(p, q, turn, n)
            seen |= orbit
            level = _in_units(heights[p][q], n) - 1
            start = [_arc(n, p), _arc(n, q)]

            def side(box: Number, level: int = level) -> int:
                high = pairs.high(*box)
                if high is not None and high < level:
                    return 1
                low = pairs.low(*box)
                return -1 if low is not None and low > level + 1 else 0

            below, open_share = proof.share(side, (start[0], start[1]), pairs.halves, 2 * depth)
            inside += below * len(orbit) / n**2
            unknown += open_share * len(orbit) / n**2
    proof.at_most("share of the starts whose risk is below the height", AT_LEAST, inside)
    proof.at_most("share that this argument can reach", inside + unknown, LESS_THAN)


def _arc(n: int, q: int) -> Cell:
    return Cell(fmpq(1), fmpq(1), fmpq(2 * q - 1, n), fmpq(2 * q + 1, n))
