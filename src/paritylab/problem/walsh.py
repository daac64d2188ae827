"""Means of all parities at once: the Walsh–Hadamard transform, and products of a chain's tokens."""

from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from paritylab.problem.tree import ParityTree


def walsh_transform(values: Float[np.ndarray, " size"]) -> Float[np.ndarray, " size"]:
    """Σ_x values[x]·(-1)^|S ∧ x| for every bit mask S; size is a power of two.

    >>> walsh_transform(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    step = 1
    while step < values.size:
        pairs = values.reshape(-1, 2, step)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1).ravel()
        step *= 2
    return values


def token_products(
    tree: ParityTree, most: int = 4, below: int | None = None
) -> Int[np.ndarray, " masks"]:
    """Bit masks of the input sets that products of 1 to `most` tokens reduce to, without 0.

    below: only tokens before this one; all if None.

    >>> token_products(ParityTree(3, (0, 2)), most=1).tolist()
    [1, 2, 4, 5]
    """
    masks = [1 << j for j in range(tree.n)]
    for left, right in tree.children:
        masks.append(masks[left] ^ masks[right])
    found = {0}
    for size in range(1, most + 1):
        for chosen in combinations(masks[:below], size):
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
