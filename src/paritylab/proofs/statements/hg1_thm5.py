"""Theorem 5 fails with a probability: two heads from random angles stay at risk 1 or more.

Theorem. Squared hinge over all inputs, masked heads, k = 2. Let every head's plane be cut into n
sectors by the rays midway between positions; a cell is a sector for each head. Suppose that the
risk is above 1 on every cell of positive height, and above the larger of both heights on the face
between any two cells of different heights. Then from a start whose risk is below the height of its
cell, gradient flow, and gradient descent with any step in (0, 2τ²/M], keep the risk at 1 or more
for ever.

The risk depends on the heads over τ only, so cells, faces and heights serve every τ, with norms
counted in units of τ; only the norm 1/τ of the starts and the curvature, M/τ², change.

Proof. Every second derivative of the risk is at most M/τ² (`_smooth`). So the risk on the segment
from an iterate to the next, and along the flow, is never above that of the start, R. Let U be the
union of the closed cells of height above R. The path starts in U. Where it would leave U it is in a
cell u of U and in a cell v outside U at once. Sectors that are not neighbours meet in the origin
only, where all rays meet; so u and v are joined by cells that contain the point, each next to the
last one, through faces that contain it, and one of these faces is between a height above R and one
that is not. There the risk is above R, a contradiction. So the path stays in U, where the risk is
above 1. ∎
"""

from functools import cache, lru_cache
from itertools import product
from typing import Any

from flint import arb, fmpq

from paritylab.proofs.domain import from_to, positive, rows, whole
from paritylab.proofs.kernel import Number, Numbers, Proof, hull, readout
from paritylab.proofs.pairs import UNIT, Cell, Pairs, floor

PRINTED = "fails"
TITLE = (
    "Masked heads, n = 8, k = 2, B = {0, 3}, b = 1/100, unit heads at random angles: gradient flow "
    "and gradient descent with any step up to 16τ²/1875 keep the risk at 1 or more for ever, with "
    "probability at least 1/4 at τ = 1/8, 63/100 at τ = 1/32 and 13/25 at every τ ≤ 1/32"
)
#: tau, share: temperatures, and the share of the starts at each, at least. up to: the same for all
#: temperatures up to one. M: above every second derivative of the risk, times τ²; steps go to
#: 2τ²/M.
SETTING = {
    "n": 8,
    "B": [0, 3],
    "b": "1/100",
    "tau": ["1/8", "1/32"],
    "share": ["1/4", "63/100"],
    "up to": {"tau": "1/32", "share": "13/25"},
    "M": "1875/8",
}
#: far: norm over τ from which attention is two positions. depth: cuts of an angle at the start, for
#: each tau and for the interval. heights: of the cells, by the positions nearest to both heads.
WITNESS = {
    "far": positive(1000),
    "depth": rows(3, whole(1, 10)),
    "heights": rows(8, rows(8, from_to(0, 16))),
}
SECONDS = 400

#: n, B, b, far: what bounds of the risk depend on if norms are counted in units of τ.
Model = tuple[int, tuple[int, ...], Number, Number]


@cache
def _pairs(model: Model) -> Pairs:
    """The bounds, once in each process; at temperature 1, since the risk depends on A/τ only."""
    n, subset, b, far = model
    return Pairs(n, subset, fmpq(1), b, far)


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, subset, b = setting["n"], tuple(setting["B"]), setting["b"]
    heights = [[fmpq(height) for height in row] for row in witness["heights"]]
    model = (n, subset, b, fmpq(witness["far"]))
    _smooth(proof, setting["M"], b)
    _symmetric(proof, heights, sum(subset), n)
    loose = _pairs(model).loose
    proof.less("attention outside two positions from the far norm on", loose, fmpq(1, 1000))
    _starts(proof, setting, model, heights, witness["depth"])
    _faces(proof, model, heights)
    _cells(proof, model, heights)


def _smooth(proof: Proof, most: Number, b: Number) -> None:
    """Second derivatives of the risk times τ², by ‖∂z‖² ≤ 2/(4τ²) and ‖∂²z‖ ≤ 1/τ².

    z = m₁ + m₂, ∂m = Cov(x, p)/τ and ∂²m = E[(x - m)(p - μ)(p - μ)ᵀ]/τ², with |p| = 1, 0 ≤ x ≤ 1:
    the deviation of x is at most 1/2, the variance of p in any direction at most 1, |x - m| ≤ 1.
    """

    def shown(box: tuple[Number, Number, int]) -> bool:
        bend = readout(hull(box[0], box[1]), 2, b)
        slope, gap = abs(bend.slope), (1 - box[2] * bend.value).max(arb(0))
        curved = slope**2 / 2 + gap * (abs(bend.curvature) / 2 + slope)
        return bool(2 * curved < most)

    boxes = [(fmpq(i, 64), fmpq(i + 1, 64), y) for i in range(128) for y in (1, -1)]
    words = f"every second derivative of the risk, times τ², is below M = {most}, 0 ≤ z ≤ 2"
    proof.everywhere(words, boxes, shown, _halves_of_interval)
    proof.less("the step of the paper's proof, over τ², is below 2/M", _printed_step(b), 2 / most)


def _printed_step(b: Number) -> Number:
    """η/τ² with η = 1/max{2l₁C, 2(l₂ + B)} of Lemmas 7, 14, 15, 16 at k = 2: each is c/τ²."""
    k, root = 2, arb(b).sqrt()
    entry = 20 + 32 * k**2 / root
    slope = arb(8 * k**2)
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


def orbits(n: int, turn: int) -> list[tuple[int, int, int]]:
    """One cell of each set that both symmetries exchange, and how many cells the set has."""
    found, seen = [], set()
    for p, q in product(range(n), repeat=2):
        mirrored = ((turn - p) % n, (turn - q) % n)
        orbit = {(p, q), (q, p), mirrored, mirrored[::-1]}
        if (p, q) not in seen:
            found.append((p, q, len(orbit)))
        seen |= orbit
    return found


def sector(pairs: Pairs, q: int) -> list[Cell]:
    """All directions nearest to position q: up to the far norm, and beyond on either side."""
    half, one = fmpq(1, 2), fmpq(1)
    near = Cell(fmpq(0), pairs.far, fmpq(2 * q - 1, pairs.n), fmpq(2 * q + 1, pairs.n))
    return [near, *(Cell(None, None, half, one, q, side) for side in (1, -1))]


def ray(pairs: Pairs, p: int) -> list[Cell]:
    """The directions midway between positions p and p + 1."""
    angle, half = fmpq(2 * p + 1, pairs.n), fmpq(1, 2)
    return [Cell(fmpq(0), pairs.far, angle, angle), Cell(None, None, half, half, p, 1)]


def above(
    proof: Proof, pairs: Pairs, words: str, first: list[Cell], second: list[Cell], level: Number
) -> None:
    """The risk is above a level if head 1 is in one of the first boxes and head 2 in a second."""
    least, low = _in_units(level, pairs.n), lru_cache(1)(pairs.low)

    def shown(box: tuple[Cell, Cell]) -> bool:
        found = low(*box)
        return found is not None and found > least

    def parts(box: tuple[Cell, Cell]) -> Number:
        found = low(*box)
        return pairs.parts(*box, found is None or 10 * found < 3 * least)

    proof.everywhere(words, [(u, v) for u in first for v in second], shown, parts)


def _in_units(level: Number, n: int) -> int:
    scaled = fmpq(level) * UNIT * 2**n
    return int(-(-scaled.p // scaled.q))


def _faces(proof: Proof, model: Model, heights: list[list[Number]]) -> None:
    """Head 1 on a ray, head 2 in a sector, one of each two faces that the reflection exchanges."""
    n, turn, seen, tasks = model[0], sum(model[1]), set(), []
    for p, q in product(range(n), repeat=2):
        level = max(heights[p][q], heights[(p + 1) % n][q])
        if heights[p][q] != heights[(p + 1) % n][q] and (p, q) not in seen:
            seen.add(((turn - p - 1) % n, (turn - q) % n))
            tasks.append((model, p, q, level))
    proof.spread(face, tasks, 1, 0.2)


def face(proof: Proof, model: Model, p: int, q: int, level: Number) -> None:
    words = f"risk above {level}, head 1 midway between {p} and {p + 1}, head 2 nearest to {q}"
    pairs = _pairs(model)
    above(proof, pairs, words, ray(pairs, p), sector(pairs, q), level)


def _cells(proof: Proof, model: Model, heights: list[list[Number]]) -> None:
    """Above 1 on cells of positive height, up to both symmetries."""
    found = [(model, p, q) for p, q, _ in orbits(model[0], sum(model[1])) if heights[p][q] > 0]
    proof.spread(cell, found, 1)


def cell(proof: Proof, model: Model, p: int, q: int) -> None:
    pairs = _pairs(model)
    words = f"risk above 1, heads nearest to {p} and {q}"
    above(proof, pairs, words, sector(pairs, p), sector(pairs, q), fmpq(1))


def _starts(
    proof: Proof, setting: Numbers, model: Model, heights: list[list[Number]], depths: list[int]
) -> None:
    """The share of pairs of angles whose risk is below the height of their cell, for each tau."""
    n, cells, largest = model[0], orbits(model[0], sum(model[1])), setting["up to"]["tau"]
    proof.at_most("unit heads are far at the largest τ of the interval", model[3], 1 / largest)
    cases = [(f"τ = {tau}", start, 1 / tau) for tau in setting["tau"]]
    cases.append((f"every τ ≤ {largest}", small_start, 1 / largest))
    shares = [*setting["share"], setting["up to"]["share"]]
    for (words, task, norm), least, depth in zip(cases, shares, depths, strict=True):
        tasks = [(model, p, q, heights[p][q], norm, depth) for p, q, _ in cells]
        found = proof.spread(task, tasks, 0, 0.1)
        inside, most = (
            sum((each[i] * count for each, (*_, count) in zip(found, cells, strict=True)), fmpq())
            / n**2
            for i in (0, 1)
        )
        reach = f"at τ = {1 / norm} these heights reach {int(1000 * most) + 1}/1000 at most"
        # Turned round, the share would have to be below `least`, and only `most` could show that.
        found_share = most if proof.turned else inside
        proof.at_most(f"share of starts below the height, {words}; {reach}", least, found_share)


def _side(pairs: Pairs, height: Number) -> Any:
    """1 where the risk is below the height, -1 where it is above, 0 where neither is shown."""
    level = _in_units(height, pairs.n) - 1

    def side(box: tuple[Cell, Cell]) -> int:
        high = pairs.high(*box)
        if high is not None and high < level:
            return 1
        low = pairs.low(*box)
        return -1 if low is not None and low > level + 1 else 0

    return side


def start(
    proof: Proof, model: Model, p: int, q: int, height: Number, norm: Number, depth: int
) -> tuple[Number, Number]:
    """The share of a cell's starts below its height at one norm, and the most it can be."""
    pairs = _pairs(model)
    arcs = [Cell(norm, norm, fmpq(2 * j - 1, pairs.n), fmpq(2 * j + 1, pairs.n)) for j in (p, q)]
    inside, unknown = proof.parts_inside(
        _side(pairs, height), tuple(arcs), lambda box: pairs.halves(*box), 2 * depth
    )
    below, beyond = (
        sum((fmpq(1, 2**cuts) for _, cuts in parts), fmpq()) for parts in (inside, unknown)
    )
    return below, below + beyond


def small_start(
    proof: Proof, model: Model, p: int, q: int, height: Number, norm: Number, depth: int
) -> tuple[Number, Number]:
    """The same at this norm and at every larger one; the most is that at this norm.

    Far from the origin a head has a share s of its attention on the nearest position and 1 - s on
    the next, but for a small mass: s = 1/(1 + exp(-2R sin(π/n) sin δ)) at norm R and angle δ from
    the ray between both. A start is counted if the risk is below the height for all shares that
    are not smaller than its own at `norm`. Its shares at larger norms are among these.
    """
    pairs, size = _pairs(model), 2**depth
    ends = [_share(pairs.n, norm, fmpq(i, size * pairs.n)) for i in range(size)] + [fmpq(1)]
    side, good, most = _side(pairs, height), 0, fmpq()
    for sides in product((1, -1), repeat=2):

        def box(part: Any, sides: tuple[int, ...] = sides) -> tuple[Cell, Cell]:
            spans = [(ends[i], min(fmpq(1), ends[j] + fmpq(1, UNIT))) for i, j in part]
            one, two = (
                Cell(None, None, *span, place, way)
                for span, place, way in zip(spans, (p, q), sides, strict=True)
            )
            return one, two

        inside, unknown = proof.parts_inside(
            lambda part: side(box(part)),
            ((0, size), (0, size)),
            lambda part: _cut(part, ends),
            2 * depth,
        )
        good += _closed(size, [part for part, _ in inside])
        most += sum((fmpq(1, 2**cuts) for _, cuts in inside + unknown), fmpq())
    return fmpq(good, 4 * size**2), most / 4


def _share(n: int, norm: Number, angle: Number) -> Number:
    """A dyadic number below s at this angle (over π) from the ray."""
    gap = 2 * arb(norm) * arb.sin_pi_fmpq(fmpq(1, n)) * arb.sin_pi_fmpq(angle)
    return max(fmpq(1, 2), fmpq(floor(1 / (1 + (-gap).exp())), UNIT))


def _cut(part: Any, ends: list[Number]) -> list[Any]:
    """Halves of a rectangle of pieces, cut where the share of attention moves more."""
    (a, b), (c, d) = part
    if d - c == 1 or (b - a > 1 and ends[b] - ends[a] >= ends[d] - ends[c]):
        return [((a, (a + b) // 2), (c, d)), (((a + b) // 2, b), (c, d))]
    return [((a, b), (c, (c + d) // 2)), ((a, b), ((c + d) // 2, d))]


def _closed(size: int, parts: list[Any]) -> int:
    """How many pieces (i, j) have every piece (i' ≥ i, j' ≥ j) in one of the parts."""
    marked = [[False] * (size + 1) for _ in range(size)] + [[True] * (size + 1)]
    for row in marked:
        row[size] = True
    for (a, b), (c, d) in parts:
        for i in range(a, b):
            marked[i][c:d] = [True] * (d - c)
    count = 0
    for i in reversed(range(size)):
        for j in reversed(range(size)):
            marked[i][j] = marked[i][j] and marked[i + 1][j] and marked[i][j + 1]
            count += marked[i][j]
    return count
