"""Which chain of tokens a transformer is shown: every slot is the parity of some bits.

A slot's *parents* are the earlier tokens whose product it is. The token just before the slot is
where it is asked for, so a parent that stands there is known; each other parent has to be looked
for. `Plan.parents` holds those, the unknown parents.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from paritylab.problem.tree import ParityTree


class Plan(NamedTuple):
    """The chain of one target.

    sums: for every slot the bits whose parity it is, 1 or 0. parents: 1 where a slot has an unknown
    parent, among the n + slots tokens that are read (bits, mark, slots without the last). written:
    False where a slot holds a mark, which is not learnt.
    """

    sums: Int[np.ndarray, "slots n"]
    parents: Bool[np.ndarray, "slots length"]
    written: tuple[bool, ...]


class _Slot(NamedTuple):
    """One token of a chain and the tokens it is the product of: bits 0 … n-1, or ("name", i) of an
    earlier slot; no parents: a mark."""

    name: tuple[str, int]
    parents: tuple[int | tuple[str, int], ...]


def plan(chain: str, leaves: tuple[int, ...], n: int, gap: int = 1) -> Plan:
    """The chain for a parity of the bits `leaves`, in this order.

    line: the first bit, the product of two, of three, …; with a gap q every q-th of them and the
    last. none: the answer alone. filler: a line with a mark between its tokens. tree: the inner
    nodes of `ParityTree` level by level. post-order: each node right after its second child. again:
    the tree, each node after a copy of its first child.

    >>> plan("line", (1, 4), 6).sums.sum(axis=1).tolist(), plan("tree", (1, 4), 6).written
    ([1, 2], (True,))
    """
    lines = ("line", "none", "filler")
    slots = _line(leaves, chain, gap) if chain in lines else _tree(ParityTree(n, leaves), chain)
    length = n + len(slots)
    sums, parents = np.zeros((len(slots), n), np.int32), np.zeros((len(slots), length), bool)
    at: dict[tuple[str, int], int] = {}
    for number, slot in enumerate(slots):
        for each in slot.parents:
            place = each if isinstance(each, int) else n + 1 + at[each]
            sums[number] ^= np.eye(n, dtype=np.int32)[place] if place < n else sums[place - n - 1]
            parents[number, place] = place != n + number  # the place where the slot is asked for
        at[slot.name] = number
    return Plan(sums, parents, tuple(bool(slot.parents) for slot in slots))


def _line(leaves: tuple[int, ...], chain: str, gap: int) -> list[_Slot]:
    """Running products of the bits, or their last one."""
    k = len(leaves)
    ends = [0, k] if chain == "none" else [0, *range(gap, k, gap), k]
    slots = []
    for start, end in pairwise(ends):
        before: tuple[int | tuple[str, int], ...] = (("sum", start),) if start else ()
        if before and chain == "filler":
            slots.append(_Slot(("mark", start), ()))
        slots.append(_Slot(("sum", end), before + leaves[start:end]))
    return slots


def _tree(tree: ParityTree, chain: str) -> list[_Slot]:
    """The inner nodes in one of three orders."""

    def token(place: int) -> int | tuple[str, int]:
        return place if place < tree.n else ("node", place)

    def below(node: int) -> list[int]:
        if node < tree.n:
            return []
        first, second = map(int, tree.children[node - tree.n])
        return [*below(first), *below(second), node]

    order = below(tree.size - 1) if chain == "post-order" else range(tree.n, tree.size)
    slots = []
    for node in order:
        first, second = (token(int(child)) for child in tree.children[node - tree.n])
        if chain == "again":
            slots.append(_Slot(("copy", node), (first,)))
            first = ("copy", node)
        slots.append(_Slot(("node", node), (first, second)))
    return slots
