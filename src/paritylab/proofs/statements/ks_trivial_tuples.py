"""Trivial products of four tokens in a binary tree: two equal pairs, or a node with a child and the
children of the other child, and no others.

A token is the set of leaves under it; a product is trivial if the sets cancel modulo 2. Ordered
quadruples are counted exactly by pairs: Σ_v c(v)², c(v) = number of ordered pairs whose sum is v.
M tokens give 3M² - 2M quadruples of two equal pairs, and each inner node that has an inner child
gives 24 more for it.
"""

from collections import Counter

from paritylab.proofs.domain import Domain
from paritylab.proofs.kernel import Numbers, Proof

PRINTED = "holds"
TITLE = "Trivial ordered quadruples below every m, counted over balanced trees up to 32 leaves"
SETTING = {"leaves": [4, 8, 16, 32]}
WITNESS: dict[str, Domain] = {}


def tokens(leaves: int) -> list[tuple[int, int, int]]:
    """Leaf sets as bit masks with both children's indices (-1 for a leaf), level by level."""
    rows = [(1 << i, -1, -1) for i in range(leaves)]
    level = list(range(leaves))
    while len(level) > 1:
        above = []
        for a, b in zip(level[::2], level[1::2], strict=True):
            above.append(len(rows))
            rows.append((rows[a][0] ^ rows[b][0], a, b))
        level = above
    return rows


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    for leaves in setting["leaves"]:
        rows = tokens(leaves)
        wrong, beyond = 0, 0
        for m in range(leaves, len(rows) + 1):
            masks = [mask for mask, _, _ in rows[:m]]
            pairs = Counter(a ^ b for a in masks for b in masks)
            chains = sum(rows[child][1] >= 0 for row in rows[:m] for child in row[1:] if child >= 0)
            trivial = sum(c * c for c in pairs.values())
            wrong += trivial != 3 * m * m - 2 * m + 24 * chains
            with_one = max(sum(pairs[a ^ b] for b in masks) for a in masks)
            beyond = max(beyond, with_one - (3 * m - 2))
        proof.equal(
            f"values of m at which 3M² - 2M + 24·chains is not the count, {leaves} leaves", wrong, 0
        )
        proof.equal(
            f"trivial quadruples of all tokens, {leaves} leaves",
            trivial,
            3 * m * m - 2 * m + 24 * chains,
        )
        proof.at_most(f"with one token given, beyond 3M - 2, {leaves} leaves", beyond, 30)
