"""The chain of thought of a parity: a complete binary tree of 2-parities over k = 2^v bits."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

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


@dataclass(frozen=True)
class ParityTree:
    """Tokens 0 … n-1 are the input signs; tokens n … n+k-2 the inner nodes, level by level.

    leaves: the k = 2^v positions of the parity set, in the order in which they are paired.

    >>> tree = ParityTree(16, (0, 3, 6, 7, 9, 11, 12, 15))
    >>> tree.children[0].tolist(), int(tree.levels[-1]), tree.depth
    ([0, 3], 3, 3)
    """

    n: int
    leaves: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "leaves", tuple(int(leaf) for leaf in self.leaves))
        Parity(self.n, self.leaves)
        below = 1 << (max(self.k, 2).bit_length() - 1)
        if self.k != below:
            raise ValueError(
                f"the chain of thought needs k = 2, 4, 8, …, got k={self.k}; nearest: {below} and "
                f"{2 * below}"
            )

    @property
    def k(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @property
    def depth(self) -> int:
        """v = log2 k, the number of levels above the input."""
        return self.k.bit_length() - 1

    @property
    def size(self) -> int:
        """Number of tokens, n + k - 1."""
        return self.n + self.k - 1

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """d_0 = n, d_1, …, d_v: how many tokens there are up to each level."""
        return level_ends(self.n, self.k)

    @cached_property
    def levels(self) -> Int[np.ndarray, " nodes"]:
        """Level 1 … v of every inner node."""
        return np.repeat(np.arange(1, self.depth + 1), np.diff(self.ends))

    @cached_property
    def children(self) -> Int[np.ndarray, "nodes 2"]:
        """The two tokens whose product each inner node is."""
        inner = np.arange(self.n, self.size - 1)
        return np.append(np.asarray(self.leaves), inner).reshape(-1, 2)

    @property
    def problem(self) -> Parity:
        """The parity that the root computes."""
        return Parity(self.n, self.leaves)

    def tokens(self, signs: Float[Array, "... n"]) -> Float[Array, "... size"]:
        """All tokens of one or many rows of input signs, computed level by level."""
        return tree_tokens(jnp.asarray(signs), np.asarray(self.leaves))


def tree_tokens(
    signs: Float[Array, "... n"], leaves: Int[AnyArray, " k"]
) -> Float[Array, "... size"]:
    """Input signs followed by all inner nodes; `leaves` (k,) may be traced."""
    rows, below = [signs], signs[..., leaves]
    while below.shape[-1] > 1:
        below = below[..., 0::2] * below[..., 1::2]
        rows.append(below)
    return jnp.concatenate(rows, axis=-1)


def random_tree(key: Key, n: int, k: int) -> ParityTree:
    """A tree over a uniformly random k-set, its leaves in increasing order.

    >>> random_tree(0, 16, 4).k
    4
    """
    return ParityTree(n, random_parity(key, n, k).subset)


def random_trees(
    n: int, k: int, runs: int, *, key: Key = 0, first: int = 0
) -> tuple[ParityTree, ...]:
    """One random tree per run; run i uses fold_in(key, first + i).

    >>> [tree.k for tree in random_trees(16, 4, runs=2)]
    [4, 4]
    """
    runs = whole("runs", runs, 1, MOST_RUNS)
    keys = fold_keys(as_key(key), run_numbers(first, runs))
    return tuple(random_tree(jax.random.fold_in(each, 0), n, k) for each in keys)


def level_ends(n: int, k: int) -> tuple[int, ...]:
    """d_0 = n, d_1 = n + k/2, …, d_v = n + k - 1: known without knowing the leaves."""
    sizes = [k >> level for level in range(1, k.bit_length())]
    return tuple(int(end) for end in n + np.cumsum([0, *sizes]))


def token_masks(tree: ParityTree) -> list[int]:
    """The set of inputs whose product each token is, as a bit mask."""
    masks = [1 << j for j in range(tree.n)]
    for left, right in tree.children:
        masks.append(masks[left] ^ masks[right])
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
