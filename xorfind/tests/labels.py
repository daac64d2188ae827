"""Labels that one parity explains, and labels that it does not: the cases of test_conclusion."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    name: str
    bits: np.ndarray
    truth: np.ndarray
    explained: bool


def made(rows: int, seed: int) -> Iterator[Case]:
    """Labels made from independent fair columns."""
    generator = np.random.default_rng(seed)
    x, luck = generator.integers(0, 2, (rows, 12)), generator.random(rows)
    odd = x[:, 1] ^ x[:, 4]
    yield Case("rare: 12 % odd, 2 % even", x, luck < np.where(odd, 0.12, 0.02), True)
    yield Case("noise 5 % odd, 30 % even", x, luck < np.where(odd, 0.95, 0.3), True)
    yield Case("noise 20 %", x, odd ^ (luck < 0.2), True)
    yield Case("(x0^x1)|(x2^x3)", x, (x[:, 0] ^ x[:, 1]) | (x[:, 2] ^ x[:, 3]), False)
    yield Case("x0^(x1&x2&x3)", x, x[:, 0] ^ (x[:, 1] & x[:, 2] & x[:, 3]), False)
    bent = (x[:, 0] & x[:, 1]) ^ (x[:, 2] & x[:, 3])
    yield Case("bent, 4 columns", x, bent, False)
    yield Case("bent, 6 columns", x, bent ^ (x[:, 4] & x[:, 5]), False)
    weights = np.linspace(2, 0.2, 12)
    chance = 1 / (1 + np.exp(-(x - 0.5) @ weights))
    yield Case("logistic", x, luck < chance, False)
    address = 2 * x[:, 0] + x[:, 1]
    yield Case("multiplexer, 6 columns", x, x[np.arange(rows), 2 + address], False)
    flipped = luck < np.where(x[:, 5] == 1, 0.3, 0.02)
    yield Case("noise by x5", x, x[:, 0] ^ x[:, 1] ^ flipped, False)


def monks() -> Iterator[Case]:
    """The three problems on all 432 rows, each attribute as one column per level."""
    levels = (3, 3, 2, 3, 4, 2)
    a = np.stack(np.meshgrid(*(np.arange(1, m + 1) for m in levels), indexing="ij"), -1)
    a = np.random.default_rng(0).permutation(a.reshape(-1, 6))
    hot = np.concatenate(
        [a[:, [j]] == np.arange(1, m + 1)[None] for j, m in enumerate(levels)], axis=1
    ).astype(int)
    yield Case("MONK-1", hot, (a[:, 0] == a[:, 1]) | (a[:, 4] == 1), False)
    yield Case("MONK-2", hot, (a == 1).sum(axis=1) == 2, False)
    third = ((a[:, 4] == 3) & (a[:, 3] == 1)) | ((a[:, 4] != 4) & (a[:, 1] != 3))
    flipped = np.random.default_rng(1).random(len(a)) < 0.05
    yield Case("MONK-3", hot, third ^ flipped, False)


def real() -> Iterator[Case]:
    """Tables that scikit-learn brings along, rows shuffled; numbers are cut by the classifier."""
    from sklearn import datasets

    for name, load in (
        ("iris", datasets.load_iris),
        ("wine", datasets.load_wine),
        ("diabetes", datasets.load_diabetes),
    ):
        data = load()
        at = np.random.default_rng(0).permutation(len(data.data))
        wanted = data.target > np.median(data.target) if name == "diabetes" else data.target == 1
        yield Case(name, data.data[at], wanted[at], False)
