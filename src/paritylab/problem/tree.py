"""The chain of thought of a parity: a tree of small parities over its k bits."""

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from operator import xor
from typing import TypedDict, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab._support.checks import whole
from paritylab._support.precision import AnyArray
from paritylab.problem.junta import walsh_transform
from paritylab.problem.keys import Key, as_key, run_numbers
from paritylab.problem.parity import MOST_RUNS, Parity, random_parity
from paritylab.problem.sampling import fold_keys

#: Shapes of a tree: complete, or one long line.
SHAPES = ("balanced", "line")


@dataclass(frozen=True)
class ParityTree:
    """Tokens 0 … n-1 are the input signs; the inner nodes follow, level by level.

    leaves: the k positions of the parity set, in the order in which they are paired. noise: ν, the
    probability of a flipped label; the chain below the label is right. arity: children of every
    inner node, q. shape: "balanced" is the complete tree of KS, k = q^v; in a "line" every node
    adds q - 1 leaves to the node before it, k = q + (q - 1)·(v - 1).

    >>> tree = ParityTree(16, (0, 3, 6, 7, 9, 11, 12, 15))
    >>> tree.children[0].tolist(), int(tree.levels[-1]), tree.depth
    ([0, 3], 3, 3)
    >>> ParityTree(8, (0, 3, 5), shape="line").children.tolist()
    [[0, 3], [8, 5]]
    """

    n: int
    leaves: tuple[int, ...]
    noise: float = 0.0
    arity: int = 2
    shape: str = "balanced"

    def __post_init__(self) -> None:
        object.__setattr__(self, "leaves", tuple(int(leaf) for leaf in self.leaves))
        whole("arity", self.arity, 2)
        if self.shape not in SHAPES:
            raise ValueError(f"shape must be one of {', '.join(SHAPES)}, got {self.shape!r}")
        Parity(self.n, self.leaves, noise=self.noise)
        self._check_size()

    def _check_size(self) -> None:
        """One clear line if no tree of this arity and shape has k leaves."""
        k, q = self.k, self.arity
        if self.shape == "line":
            below, step = q + max(0, k - q) // (q - 1) * (q - 1), q - 1
            known, above = f"{q}, {q + step}, {q + 2 * step}, …", below + step
        else:
            below = q
            while below * q <= k:
                below *= q
            known, above = f"{q}, {q**2}, {q**3}, …", below * q
        if k != below:
            raise ValueError(
                f"the chain of thought needs k = {known}, got k={k}; nearest: {below} and {above}"
            )

    @property
    def k(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @property
    def nodes(self) -> int:
        """Number of inner nodes, (k - 1)/(q - 1)."""
        return (self.k - 1) // (self.arity - 1)

    @property
    def depth(self) -> int:
        """v, the number of levels above the input."""
        return len(self.ends) - 1

    @property
    def size(self) -> int:
        """Number of tokens, those of the input and the inner nodes."""
        return self.n + self.nodes

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """d_0 = n, d_1, …, d_v: how many tokens there are up to each level."""
        return level_ends(self.n, self.k, self.arity, self.shape)

    @cached_property
    def levels(self) -> Int[np.ndarray, " nodes"]:
        """Level 1 … v of every inner node."""
        return np.repeat(np.arange(1, self.depth + 1), np.diff(self.ends))

    @cached_property
    def children(self) -> Int[np.ndarray, "nodes arity"]:
        """The tokens whose product each inner node is."""
        inner, leaves, q = np.arange(self.n, self.size - 1), np.asarray(self.leaves), self.arity
        if self.shape == "balanced":
            return np.append(leaves, inner).reshape(-1, q)
        rows = [leaves[:q], *leaves[q:].reshape(-1, q - 1)]
        return np.stack(
            [rows[0], *(np.append(at, row) for at, row in zip(inner, rows[1:], strict=True))]
        )

    @property
    def problem(self) -> Parity:
        """The parity that the root computes."""
        return Parity(self.n, self.leaves, noise=self.noise)

    def tokens(self, signs: Float[Array, "... n"]) -> Float[Array, "... size"]:
        """All tokens of one or many rows of input signs, computed level by level."""
        leaves = np.asarray(self.leaves)
        return tree_tokens(jnp.asarray(signs), leaves, self.arity, self.shape)


def tree_tokens(
    signs: Float[Array, "... n"],
    leaves: Int[AnyArray, " k"],
    arity: int = 2,
    shape: str = "balanced",
) -> Float[Array, "... size"]:
    """Input signs followed by all inner nodes; `leaves` (k,) may be traced."""
    rows, below = [signs], signs[..., leaves]
    if shape == "line":
        first = jnp.prod(below[..., :arity], axis=-1, keepdims=True)
        if below.shape[-1] == arity:
            return jnp.concatenate([signs, first], axis=-1)
        added = below[..., arity:].reshape(*below.shape[:-1], -1, arity - 1)
        nodes = jnp.concatenate([first, jnp.prod(added, axis=-1)], axis=-1)
        return jnp.concatenate([signs, jnp.cumprod(nodes, axis=-1)], axis=-1)
    while below.shape[-1] > 1:
        parts = [below[..., child::arity] for child in range(arity)]
        below = parts[0]
        for part in parts[1:]:
            below = below * part
        rows.append(below)
    return jnp.concatenate(rows, axis=-1)


class TreeSettings(TypedDict, total=False):
    """Fields of `ParityTree` beyond its leaves."""

    noise: float
    arity: int
    shape: str


def random_tree(key: Key, n: int, k: int, **settings: Unpack[TreeSettings]) -> ParityTree:
    """A tree over a uniformly random k-set, its leaves in increasing order.

    >>> random_tree(0, 16, 4).k
    4
    """
    return ParityTree(n, random_parity(key, n, k).subset, **settings)


def random_trees(
    n: int,
    k: int,
    runs: int,
    *,
    key: Key = 0,
    first: int = 0,
    **settings: Unpack[TreeSettings],
) -> tuple[ParityTree, ...]:
    """One random tree per run; run i uses fold_in(key, first + i).

    >>> [tree.k for tree in random_trees(16, 4, runs=2)]
    [4, 4]
    """
    runs = whole("runs", runs, 1, MOST_RUNS)
    keys = fold_keys(as_key(key), run_numbers(first, runs))
    return tuple(random_tree(jax.random.fold_in(each, 0), n, k, **settings) for each in keys)


def level_ends(n: int, k: int, arity: int = 2, shape: str = "balanced") -> tuple[int, ...]:
    """d_0 = n, d_1, …, d_v: known without knowing the leaves.

    >>> level_ends(16, 8), level_ends(16, 9, arity=3), level_ends(16, 4, shape="line")
    ((16, 20, 22, 23), (16, 19, 20), (16, 17, 18, 19))
    """
    if shape == "line":
        return tuple(range(n, n + (k - 1) // (arity - 1) + 1))
    sizes = []
    while k > 1:
        k //= arity
        sizes.append(k)
    return tuple(int(end) for end in n + np.cumsum([0, *sizes]))


def token_masks(tree: ParityTree) -> list[int]:
    """The set of inputs whose product each token is, as a bit mask."""
    masks = [1 << j for j in range(tree.n)]
    for children in tree.children:
        masks.append(reduce(xor, (masks[child] for child in children)))
    return masks


def token_products(
    tree: ParityTree, most: int = 4, below: int | None = None
) -> Int[np.ndarray, " masks"]:
    """Bit masks of the input sets that products of 1 to `most` tokens reduce to, without 0.

    below: only tokens before this one; all if None.

    >>> token_products(ParityTree(3, (0, 2)), most=1).tolist()
    [1, 2, 4, 5]
    """
    masks, found = token_masks(tree)[:below], {0}
    for size in range(1, most + 1):
        for chosen in combinations(masks, size):
            found.add(int(np.bitwise_xor.reduce(chosen)))
    return np.array(sorted(found - {0}))


def largest_means(
    tree: ParityTree, samples: int, seeds: list[int], below: int | None = None
) -> Float[np.ndarray, " draws"]:
    """Largest |empirical mean| over all nontrivial products of up to four tokens, per draw.

    samples: random inputs per draw. seeds: one per draw. below: only tokens before this one.
    """
    products, size = token_products(tree, below=below), 1 << tree.n
    largest = []
    for seed in seeds:
        drawn = np.random.default_rng(seed).integers(0, size, samples)
        counts = np.bincount(drawn, minlength=size).astype(float)
        largest.append(np.abs(walsh_transform(counts)[products]).max() / samples)
    return np.array(largest)
