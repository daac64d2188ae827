"""Which rows may be called independent, looked at before anything is tested.

The tests of `evidence` hold if labels or rows come in no order and in no clusters. Three things
break that: rows that were copied, rows that follow each other slowly, and families of rows that
resemble each other. Each is looked for where columns and labels show it together, because either
alone does no harm. What is found is undone by leaving rows out until the rest may be independent:
one row of each set of copies, rows of families that are far apart, every L-th row of a slow order.

How often rows repeat or resemble each other by chance is read off rows drawn from a tree of
columns with the same shares and the strongest pairwise ties (Chow and Liu): a small table of few
columns repeats rows without any copying.
"""

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

#: Rows drawn from the tree to count repetitions, rows whose distances are compared, columns.
MOST_DRAWN, MOST_COMPARED, MOST_COLUMNS = 20_000, 3_000, 256
#: Likelihood ratio (of a χ² with one degree) from which two columns are tied: copies inflate it.
CLEAR_TIE = 30.0
#: Standard errors beyond chance: of pairs of rows, of labels within pairs, of labels in order.
EXCESS, AGREEING, IN_ORDER = 4.0, 2.5, 2.0
#: The product of the serial correlations of a column and the label that is left by thinning.
LEFT_OVER = 0.03
#: Fewer rows than this are not looked at: nothing can be said of them. Fewer that are left of a
#: slow order or of families show no parity.
FEWEST, FEWEST_LEFT = 16, 45


class Dependence(StrEnum):
    """Why rows were left out."""

    REPEATED = "repeated"
    ORDER = "order"
    FAMILIES = "families"
    GROUPS = "groups"


class RowsUsed(NamedTuple):
    """Rows that the evidence rests on.

    total: of the table. used: of them, taken for independent. why: what was found, in the order in
    which it was undone. spacing: every so many-th row of a slow order was kept. checked: False
    where the user says that rows are independent. left_out: columns that say no more than the row
    order.
    """

    total: int
    used: int
    why: tuple[Dependence, ...] = ()
    spacing: int = 1
    checked: bool = True
    left_out: tuple[int, ...] = ()

    @property
    def too_few(self) -> bool:
        """Whether so few are left of dependent rows that a parity cannot be told from what
        resembles it. Copies are no matter: without them nothing is lost."""
        guessed = {Dependence.ORDER, Dependence.FAMILIES} & set(self.why)
        return bool(guessed) and self.used < FEWEST_LEFT


class Chosen(NamedTuple):
    """Row numbers that may be called independent, ascending, and how they were chosen."""

    rows: np.ndarray
    used: RowsUsed


def independent_rows(bits: Any, labels: Any, groups: Any = None, seed: int = 0) -> Chosen:
    """Rows that may be called independent. bits: (N, n). labels: two values, (N,).

    groups: one value per row; rows of different groups are independent, and nothing is looked for.

    >>> bits = np.random.default_rng(0).integers(0, 2, (60, 20))
    >>> labels = np.random.default_rng(1).integers(0, 2, 60)
    >>> independent_rows(np.tile(bits, (3, 1)), np.tile(labels, 3)).used.used
    60
    """
    bits, truth = np.ascontiguousarray(bits, dtype=np.uint8), np.asarray(labels)
    truth = (truth == truth.max()).astype(np.uint8) if len(truth) else truth
    generator = np.random.default_rng(seed)
    total, every = len(bits), np.arange(len(bits))
    if groups is not None:
        kept = _one_of_each(np.unique(np.asarray(groups), return_inverse=True)[1], generator)
        return Chosen(kept, RowsUsed(total, len(kept), (Dependence.GROUPS,)))
    if total < FEWEST or not 0 < int(truth.sum()) < total:
        return Chosen(every, RowsUsed(total, total))
    rows, why = every, list[Dependence]()
    copies = _copies(bits, truth, generator)
    if copies is not None:
        rows, why = _one_of_each(copies, generator), [Dependence.REPEATED]
    first = rows[:MOST_DRAWN]
    spacing, left_out = _slow_order(bits[first], truth[first], generator)
    if spacing > 1:
        rows, why = rows[int(generator.integers(spacing)) :: spacing], [*why, Dependence.ORDER]
    looked = np.sort(generator.permutation(rows)[:MOST_COMPARED])
    apart = _families(bits[looked], truth[looked], generator)
    if apart is not None:
        rows, why = looked[apart], [*why, Dependence.FAMILIES]
    names = tuple(np.flatnonzero(left_out).tolist())
    return Chosen(rows, RowsUsed(total, len(rows), tuple(why), spacing, left_out=names))


def _one_of_each(ids: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A random row of each cluster, ascending."""
    order = generator.permutation(len(ids))
    _, first = np.unique(ids[order], return_index=True)
    return np.sort(order[first])


# Copies.


def _copies(bits: np.ndarray, truth: np.ndarray, generator: np.random.Generator) -> Any:
    """Clusters of identical rows, if there are more of them than chance makes; else None.

    None as well if other rows are too similar to be chance: those are families or a slow order.
    """
    ids, count = _patterns(bits)
    pairs = _pairs(count)
    if not pairs:
        return None
    whole = _whole_repetition(ids, truth)
    if whole is not None:
        return whole
    drawn = _tree_rows(bits, min(8 * len(bits), MOST_DRAWN), generator)
    expected, spread = _expected_pairs(_patterns(drawn)[1], len(bits))
    if pairs <= expected + EXCESS * spread or pairs <= 1.1 * expected:
        return None
    if _family_radius(*_compared(bits, generator)):
        return None
    rest = _beyond_columns(bits, truth)
    sums, squares = (np.bincount(ids, weights=each) for each in (rest, rest**2))
    return ids if _agree(float((sums**2 - squares).sum()) / 2, pairs, rest) else None


def _beyond_columns(bits: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What of the label no sum of columns says: similar rows agree in the rest for no good reason.

    Where rows are few the label itself, centred.
    """
    centred = truth - truth.mean()
    if bits.shape[1] > min(MOST_COLUMNS, len(bits) // 4):
        return np.asarray(centred)
    some, mean = bits[:MOST_DRAWN].astype(np.float64), bits.mean(axis=0)
    some -= mean
    weights = np.linalg.lstsq(some.T @ some, some.T @ centred[:MOST_DRAWN], rcond=1e-9)[0]
    said = [bits[at : at + MOST_DRAWN] @ weights for at in range(0, len(bits), MOST_DRAWN)]
    made: np.ndarray = centred - np.concatenate(said) + mean @ weights
    return made


def _agree(products: float, pairs: float, rest: np.ndarray) -> bool:
    """Whether the products of pairs of numbers sum to more than they would by chance."""
    return bool(products > AGREEING * np.sqrt(max(pairs, 1.0)) * float((rest**2).mean()))


def _patterns(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number per row that equal rows share, and how many rows have each."""
    packed = np.ascontiguousarray(np.packbits(bits, axis=1))
    keys = packed.view(f"V{packed.shape[1]}").ravel()
    _, ids, count = np.unique(keys, return_inverse=True, return_counts=True)
    return ids, count


def _pairs(count: np.ndarray) -> float:
    return float((count * (count - 1.0)).sum() / 2)


def _whole_repetition(ids: np.ndarray, truth: np.ndarray) -> np.ndarray | None:
    """Every row with its label occurs a multiple of g times: g rows are one. None if g is 1."""
    both = 2 * ids + truth
    _, place, count = np.unique(both, return_inverse=True, return_counts=True)
    times = int(np.gcd.reduce(count))
    if times == 1 or len(count) < FEWEST:
        return None
    order = np.argsort(place, kind="stable")
    rank = np.empty(len(place), np.int64)
    rank[order] = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
    return np.unique(np.stack([place, rank // times]), axis=1, return_inverse=True)[1].ravel()


def _expected_pairs(count: np.ndarray, rows: int) -> tuple[float, float]:
    """Equal pairs among so many independent rows, and their standard error, from rows drawn."""
    drawn = count.sum()
    two = (count * (count - 1.0)).sum() / (drawn * (drawn - 1))
    three = (count * (count - 1.0) * (count - 2)).sum() / (drawn * (drawn - 1.0) * (drawn - 2))
    variance = rows**2 / 2 * two + rows**3 * max(three - two**2, 0.0)
    # What a draw does not show occurs less than once in it.
    return rows**2 / 2 * two, float(np.sqrt(variance + (rows / drawn) ** 4))


def _tree_rows(bits: np.ndarray, rows: int, generator: np.random.Generator) -> np.ndarray:
    """Independent rows of columns with the same shares and the strongest ties between pairs."""
    if bits.shape[1] > MOST_COLUMNS:
        bits = bits[:, np.sort(generator.choice(bits.shape[1], MOST_COLUMNS, replace=False))]
    counted = bits[generator.choice(len(bits), min(len(bits), MOST_DRAWN), replace=False)]
    values = counted.astype(np.float32)
    both = (values.T @ values).astype(np.float64) / len(values)
    share = np.diag(both)
    tie = _information(share, both)
    tie[tie < CLEAR_TIE / (2 * len(values))] = 0
    np.fill_diagonal(tie, 0)
    # A tie of exactly nothing would be no edge.
    tree = minimum_spanning_tree(-(tie + 1e-6))
    order, parent = breadth_first_order(tree, 0, directed=False)
    drawn = np.empty((rows, bits.shape[1]), np.uint8)
    for at in order.tolist():
        chance: Any = share[at]
        if parent[at] >= 0 and tie[at, parent[at]] > 0:
            above = int(parent[at])
            on = both[at, above] / max(share[above], 1e-12)
            off = (share[at] - both[at, above]) / max(1 - share[above], 1e-12)
            chance = np.where(drawn[:, above], on, off)
        drawn[:, at] = generator.random(rows) < chance
    return drawn


def _information(share: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Mutual information of every two columns."""
    one, other = share[:, None], share[None, :]
    cells = (
        (both, one * other),
        (one - both, one * (1 - other)),
        (other - both, (1 - one) * other),
        (1 - one - other + both, (1 - one) * (1 - other)),
    )
    total = np.zeros_like(both)
    for seen, product in cells:
        here = np.maximum(seen, 0)
        ratio = np.divide(here, product, out=np.ones_like(here), where=product > 1e-12)
        total += here * np.log(np.maximum(ratio, 1e-300))
    return np.asarray(np.maximum(total, 0))


# Order.


def _slow_order(
    bits: np.ndarray, truth: np.ndarray, generator: np.random.Generator
) -> tuple[int, np.ndarray]:
    """How far apart rows of a slow order must be, 1 if it is not slow; columns to leave out."""
    nothing = np.zeros(bits.shape[1], bool)
    if len(bits) < FEWEST or _is_sorted(bits) or _is_sorted(bits[:, ::-1]):
        return 1, nothing
    # A column that hardly ever changes is the row order itself: no spacing undoes that.
    order = np.count_nonzero(bits[1:] != bits[:-1], axis=0) <= 2
    others = generator.permutation(np.flatnonzero(~order))[:MOST_COLUMNS]
    some, spacing, left_out = bits[:, np.sort(others)], 1, nothing
    while len(bits) // spacing >= FEWEST and _label_is_slow(some[::spacing], truth[::spacing]):
        left_out = order
        slow = _slow_columns(some[::spacing], truth[::spacing])
        if not slow.any():
            break
        spacing = max(_spacing(some[:, slow], truth), 2 * spacing if spacing > 1 else 1)
    return spacing, left_out


def _is_sorted(bits: np.ndarray) -> bool:
    """Whether rows stand in counting order: then the order says nothing that they do not."""
    differ = bits[1:] != bits[:-1]
    moved = differ.any(axis=1)
    first = differ.argmax(axis=1)
    return bool((bits[1:][np.arange(len(first)), first] == 1)[moved].all())


def _label_is_slow(bits: np.ndarray, truth: np.ndarray) -> bool:
    """Whether what the columns do not say of the label changes slowly along the rows."""
    rest = _beyond_columns(bits, truth)
    return bool(_serial(rest[:, None], 1)[0] >= IN_ORDER / np.sqrt(len(rest)))


def _slow_columns(bits: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Flags of the columns that change slowly along the rows.

    Of the columns, what is left when their shares among either label are taken away: a table that
    is sorted by its label is not slow.
    """
    threshold = (np.sqrt(2 * np.log(bits.shape[1] + 1)) + 1.5) / np.sqrt(len(bits))
    return np.asarray(_serial(_given_label(bits, truth), 1) > threshold)


def _given_label(bits: np.ndarray, truth: np.ndarray) -> np.ndarray:
    rest = bits.astype(np.float32)
    for side in (0, 1):
        rest[truth == side] -= rest[truth == side].mean(axis=0)
    return rest


def _serial(values: np.ndarray, lag: int) -> np.ndarray:
    """Correlation of each column with itself so many rows later."""
    centred = values - values.mean(axis=0)
    total = (centred**2).sum(axis=0)
    product = (centred[lag:] * centred[:-lag]).sum(axis=0)
    made: np.ndarray = np.divide(product, total, out=np.zeros_like(total), where=total > 1e-9)
    return made


def _spacing(bits: np.ndarray, truth: np.ndarray) -> int:
    """The least distance at which columns and label together have nearly forgotten each other."""
    rest, label = _given_label(bits, truth), truth[:, None].astype(np.float64)
    first = _serial(rest, 1)
    slowest = np.argsort(-first)[: max(1, (len(first) + 1) // 2)]
    most = max(2, len(bits) // FEWEST)
    lag = 1
    while lag < most:
        columns = max(float(_serial(rest[:, slowest], lag).mean()), 0.0)
        if columns * max(float(_serial(label, lag)[0]), 0.0) <= LEFT_OVER:
            break
        lag += max(1, lag // 8)
    return max(2, min(lag, most))


# Families.


def _families(
    bits: np.ndarray, truth: np.ndarray, generator: np.random.Generator
) -> np.ndarray | None:
    """Rows far from each other, if rows resemble each other beyond chance; else None."""
    if len(bits) < FEWEST:
        return None
    here, by_chance = _compared(bits, generator)
    radius = _family_radius(here, by_chance)
    if radius is None:
        return None
    close, rest = here <= radius, _beyond_columns(bits, truth)
    pairs = (np.count_nonzero(close) - len(close)) / 2
    if not _agree(float(rest @ close @ rest - (rest**2).sum()) / 2, pairs, rest):
        return None
    apart = _far_apart(here > radius, generator)
    # Families reach a little beyond where they stand out: one step more, unless it costs too much.
    further = _far_apart(here > radius + 1, generator)
    return further if len(further) >= 0.4 * len(apart) else apart


def _compared(bits: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Distances of every two rows, of at most so many; pairs expected at distance 0, 1, …"""
    some = bits[np.sort(generator.permutation(len(bits))[:MOST_COMPARED])]
    some = some[:, np.sort(generator.permutation(bits.shape[1])[:MOST_COLUMNS])]
    draws = max(1, min(8, MOST_COMPARED // len(some)))
    by_chance = np.zeros(some.shape[1] + 1)
    for _ in range(draws):
        drawn = _distances(_tree_rows(some, len(some), generator))
        by_chance += _distance_counts(drawn, some.shape[1])
    return _distances(some), by_chance / draws


def _distance_counts(distances: np.ndarray, columns: int) -> np.ndarray:
    """Pairs of rows at distance 0, 1, …, columns."""
    count = np.bincount(distances.ravel(), minlength=columns + 1)
    count[0] -= len(distances)
    return np.asarray(count / 2)


def _family_radius(distances: np.ndarray, expected: np.ndarray) -> int | None:
    """The largest distance with clearly more pairs than chance makes, from 0 on; None if none."""
    radius, more = None, 0.0
    seen = _distance_counts(distances, len(expected) - 1)
    for distance, (here, by_chance) in enumerate(
        zip(seen.tolist(), expected.tolist(), strict=True)
    ):
        if here > by_chance + 3 * np.sqrt(by_chance + 1):
            radius = distance
        elif by_chance > EXCESS:
            break
        more += here - by_chance
    enough = more > EXCESS * np.sqrt(expected[: (radius or 0) + 1].sum() + 1) + 5
    return radius if enough else None


def _far_apart(far: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Rows, taken in random order, that are far from all taken before; ascending."""
    free, taken = np.ones(len(far), bool), []
    for at in generator.permutation(len(far)).tolist():
        if free[at]:
            taken.append(at)
            free &= far[at]
    return np.sort(np.array(taken, dtype=np.int64))


def _distances(bits: np.ndarray) -> np.ndarray:
    """Columns in which every two rows differ, (N, N)."""
    signs = 1 - 2 * bits.astype(np.float32)
    made: np.ndarray = np.rint((bits.shape[1] - signs @ signs.T) / 2).astype(np.int32)
    return made
