"""How many independent rows stand behind a parity.

The p-values of `levels` count every row. That is right if, given the columns, the labels of two
rows have nothing to do with each other. Rows that follow each other in time, lie near each other
in space, were copied, mixed from others or measured in one batch break it. The harm shows in two
places together: in the parity z, and in the residual r, what the parity does not say of the label.
If the parity is right and its noise is plain, r has no structure at all, however strongly the
columns depend on each other. If rows merely come in clumps, a parity that fits by luck leaves the
clumps in r. So both checks look at r, after a candidate was found.

Order. For two independent stationary series the variance of Σ r z is larger than for independent
rows by the factor λ = 1 + 2 Σ_l ρ_r(l) ρ_z(l), ρ being autocorrelations (Bartlett 1935). The sum
goes over all lags, so that seasons count as well. N rows are worth N/λ.

Likeness. Where the order says nothing, rows of one clump still resemble each other. If residuals of
similar rows agree beyond chance, rows are left out until the rest lie further apart than that, and
the search begins anew with these.
"""

import math
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

#: Rows whose order, and rows whose likeness, is looked at; columns that likeness is made of.
MOST_IN_ORDER, MOST_COMPARED, MOST_COLUMNS = 1 << 15, 3000, 256
#: Standard errors beyond chance: of λ, of similar residuals together, the same once rows are known
#: to be dependent, and of those a little further away.
INFLATED, ALIKE, SUSPECTED, FURTHER = 2.5, 3.0, 1.5, 2.2
#: A parity that changes so seldom is the row order itself; a share of misfits that shows nothing.
FEW_CHANGES, FEW_MISFITS = 8, 0.05
#: Fewer rows than this are not looked at; fewer left of similar rows show no parity.
FEWEST, FEWEST_LEFT = 16, 60
#: Columns whose combinations are taken out of the residual.
MOST_CELLS = 8


class Dependence(StrEnum):
    """Why there are fewer independent rows than rows."""

    REPEATED = "repeated"
    ORDER = "order"
    FAMILIES = "families"
    GROUPS = "groups"


class RowsUsed(NamedTuple):
    """Rows that the evidence rests on.

    total: of the table. used: of them, looked at. effective: independent rows that these are worth.
    why: what was found. checked: False where the user says that rows are independent.
    """

    total: int
    used: int
    why: tuple[Dependence, ...] = ()
    checked: bool = True
    effective: int | None = None

    @property
    def too_few(self) -> bool:
        """Whether so few are left of similar rows that a parity and what resembles it look alike.
        Copies do not matter: without them nothing is lost."""
        return Dependence.FAMILIES in self.why and self.used < FEWEST_LEFT


def inflation(parity: np.ndarray, label: np.ndarray) -> float:
    """The factor λ by which the order of rows widens the chance distribution of a parity's fit.

    parity, label: bits, (N,). It is 1 unless it is more than its standard error above 1, which for
    a structureless residual is 2·√(Σ ρ_z²/N). A parity that fits nearly all rows leaves too little
    residual to see; there the parity must change from row to row as often as a shuffled one does.

    >>> draw = np.random.default_rng(0)
    >>> inflation(draw.integers(0, 2, 500), draw.integers(0, 2, 500))
    1.0
    >>> slow = np.arange(500) // 50 % 2
    >>> inflation(slow, np.roll(slow, 10)) > 10
    True
    """
    z, y = (np.asarray(each[:MOST_IN_ORDER], np.float64) for each in (parity, label))
    rows = len(z)
    z, y = z - z.mean(), y - y.mean()
    spread = float(z @ z)
    if rows < FEWEST or spread == 0:
        return 1.0
    rest = y - z * (float(z @ y) / spread)
    changes, misfits = np.count_nonzero(np.diff(z)), np.count_nonzero(np.abs(rest) > 0.5)
    shuffled, steps = 2 * spread, 1.0
    if changes <= FEW_CHANGES or misfits < FEW_MISFITS * rows:
        few = changes + INFLATED * math.sqrt(shuffled) < shuffled
        steps = shuffled / (changes + 1) if few else 1.0
    own, left = _autocorrelations(z), _autocorrelations(rest)
    if float(own @ left) <= INFLATED * math.sqrt(float(own @ own) / rows):
        return steps
    return max(steps, 1 + 2 * max(float(own @ left), float(own @ _autocorrelations(y))))


def _autocorrelations(values: np.ndarray) -> np.ndarray:
    """ρ(1), …, ρ(N-1) of centred values, by the Fourier transform."""
    spectrum = np.abs(np.fft.rfft(values, 2 * len(values))) ** 2
    made: np.ndarray = np.fft.irfft(spectrum)[: len(values)]
    correlations: np.ndarray = made[1:] / max(float(made[0]), 1e-300)
    return correlations


def is_sorted(bits: np.ndarray) -> bool:
    """Whether rows come in counting order: then their order says nothing that they do not."""
    differ = bits[1:] != bits[:-1]
    moved = differ.any(axis=1)
    first = differ.argmax(axis=1)
    return bool((bits[1:][np.arange(len(first)), first] == 1)[moved].all())


def one_of_each(groups: Any, seed: int = 0) -> np.ndarray:
    """A random row of each group, ascending. groups: one value per row."""
    ids = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    order = np.random.default_rng(seed).permutation(len(ids))
    _, first = np.unique(ids[order], return_index=True)
    return np.sort(order[first])


def rows_apart(
    bits: np.ndarray,
    label: np.ndarray,
    columns: tuple[int, ...],
    *,
    related: bool = False,
    suspected: bool = False,
    seed: int = 0,
) -> tuple[np.ndarray, Dependence] | None:
    """Rows so far apart that their residuals do not agree; None if they do not agree anyway.

    bits: (N, n). label: bits, (N,). columns: whose combinations are taken out of the label first:
    those of the parity, and those that its misfits depend on. related: whether there are such.
    suspected: whether rows are known to be dependent, so that less is enough to doubt more.
    """
    if len(bits) < FEWEST:
        return None
    generator = np.random.default_rng(seed)
    rest = _beyond(bits, label, columns)
    if not rest.any():
        return _distinct(bits, generator)
    order, least = generator.permutation(len(bits)), SUSPECTED if suspected else ALIKE
    some = np.sort(order[:MOST_COMPARED])
    far = distances(bits[some], generator)
    # Where other columns matter as well, their sum may be what similar rows share.
    doubted = _beyond_sums(bits, rest) if related else rest
    seen = _shared_radius(far, doubted[some], least) is not None
    # Very many rows would be cut down to these few, so others must show the same: luck does not.
    others = order[MOST_COMPARED : 2 * MOST_COMPARED]
    if seen and len(others) == MOST_COMPARED:
        again = distances(bits[others], generator)
        seen = _shared_radius(again, doubted[others], least) is not None
    if not seen:
        return None
    radius = _shared_radius(far, rest[some], 0.0) or 0
    # Rows that another function explains agree as well, but they are not crowded.
    if related and not _crowded(far, bits[some], radius):
        return None
    apart = _far_apart(far > radius, generator)
    if not radius:
        return (some[apart], Dependence.REPEATED) if len(apart) < len(some) else None
    # Clumps reach a little beyond where they stand out: one step more, unless it costs too much.
    further = _far_apart(far > radius + 1, generator)
    enough = max(0.4 * len(apart), FEWEST_LEFT)
    apart = further if len(further) >= enough else apart
    return some[apart], Dependence.FAMILIES


def _beyond(bits: np.ndarray, label: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    """What of the label no function of these few columns says, (N,)."""
    few = columns[:MOST_CELLS]
    codes = bits[:, few].astype(np.int64) @ (1 << np.arange(len(few)))
    means = np.bincount(codes, weights=label) / np.maximum(np.bincount(codes), 1)
    rest = label - means[codes]
    return np.where(np.abs(rest) < 1e-9, 0.0, rest)


def _beyond_sums(bits: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """What of it no sum of columns says either; where rows are too few for that, all of it."""
    rows, width = bits.shape
    if width > min(MOST_COLUMNS, rows // 4):
        return rest
    some = bits[:MOST_IN_ORDER] - bits[:MOST_IN_ORDER].mean(axis=0)
    weights = np.linalg.lstsq(some.T @ some, some.T @ rest[: len(some)], rcond=1e-9)[0]
    said = bits @ weights
    return np.asarray(rest - (said - said.mean()))


def distances(bits: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """In how many of (at most 256) columns every two rows differ, (N, N)."""
    some = np.sort(generator.permutation(bits.shape[1])[:MOST_COLUMNS])
    signs = 1 - 2 * bits[:, some].astype(np.float32)
    made: np.ndarray = np.rint((len(some) - signs @ signs.T) / 2).astype(np.int32)
    return made


def _shared_radius(far: np.ndarray, rest: np.ndarray, least: float) -> int | None:
    """The largest distance at which residuals agree beyond chance; None if they nowhere do.

    Products of residuals of pairs are summed by distance, up to half of the pairs; with m pairs the
    sum has the standard error √m·var. One sum over all close pairs decides whether, the single
    distances decide how far. The residuals of a part of the rows have a mean of their own, which
    all of their products share; it is taken out first.
    """
    rest = rest - rest.mean()
    upper = np.triu_indices(len(far), 1)
    at = far[upper]
    pairs = np.bincount(at).astype(float)
    products = np.bincount(at, weights=rest[upper[0]] * rest[upper[1]]) / rest.var()
    close = np.cumsum(pairs) <= max(pairs.sum() / 2, pairs[0])
    pairs, products = pairs[close], products[close]
    if not pairs.sum():
        return None
    together = np.cumsum(products) / np.sqrt(np.maximum(np.cumsum(pairs), 1))
    if together.max() < least:
        return None
    radius = 0
    for distance in range(1, len(pairs)):
        # Rows with m others of their kind repeat every product: its error is 1 + m times as large.
        repeats = 1 + 2 * max(products[: radius + 1].sum(), 0.0) / len(rest)
        new = slice(radius + 1, distance + 1)
        if products[new].sum() >= FURTHER * repeats * math.sqrt(max(pairs[new].sum(), 1)):
            radius = distance
    return radius


def _crowded(far: np.ndarray, bits: np.ndarray, radius: int) -> bool:
    """Whether more rows are so close to each other than independent columns would make."""
    share = bits.mean(axis=0)
    chances = np.ones(1)
    for differ in 2 * share * (1 - share):
        chances = np.convolve(chances, [1 - differ, differ])
    expected = len(far) ** 2 / 2 * float(chances[: radius + 1].sum())
    seen = (np.count_nonzero(far <= radius) - len(far)) / 2
    return bool(seen > 1.5 * expected + 4 * math.sqrt(expected + 1))


def _distinct(
    bits: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, Dependence] | None:
    """One of each set of equal rows, if there are many more of them than columns that do not depend
    on each other would make: for a parity that fits every row, which leaves no residual."""
    keys = np.packbits(bits, axis=1)
    _, ids, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    share = bits.mean(axis=0)
    equal = float(np.exp(np.log(share**2 + (1 - share) ** 2).sum()))
    expected, seen = len(bits) ** 2 / 2 * equal, float((count * (count - 1.0)).sum() / 2)
    if len(count) < FEWEST or seen <= 10 * expected + 10:
        return None
    return one_of_each(ids, int(generator.integers(1 << 31))), Dependence.REPEATED


def _far_apart(far: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Rows, taken in random order, that are far from all taken before; ascending."""
    free, taken = np.ones(len(far), bool), []
    for at in generator.permutation(len(far)).tolist():
        if free[at]:
            taken.append(at)
            free &= far[at]
    return np.sort(np.array(taken, dtype=np.int64))
