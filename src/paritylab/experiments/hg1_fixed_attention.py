"""Trained and searched nets on fixed attention: Theorem 11, Remark 12."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from paritylab.experiments.hg1_fixed_heads import fixed_attention_margin
from paritylab.experiments.search import hunt
from paritylab.learning import FrozenAttention, Population, learn
from paritylab.problem import random_parities
from paritylab.statistics import Mean
from paritylab.theory import hg1


class SearchedRisk(NamedTuple):
    """The smallest risk that a search found, and the bound that it is compared with.

    n, m: bits and heads. share: ρ‖α‖‖β‖/n. positional: whether scores ignore the bits.
    """

    n: int
    m: int
    share: float
    positional: bool
    risk: float
    bound: float


def search_smallest_risks(
    sizes: Iterable[tuple[int, int]],
    shares: Sequence[float],
    *,
    starts: int,
    steps: int,
    strength: float,
    seed: int,
) -> Iterator[SearchedRisk]:
    """Search the smallest risks over embeddings, fixed attention and nets, by Adam from random
    starts.

    The bound is ours, the least attended position being B. sizes: (n, m). shares: ρ‖α‖‖β‖/n,
    to which the net is scaled; ρ is the embeddings' diameter, or the distance of the two tokens
    where scores ignore the bits. strength: above 1 the bound is made stronger than it is.
    """
    cases = list(product(shares, (False, True)))
    bounds = [hg1.fixed_attention(1, s / strength, 1.0, positional=p) for s, p in cases]
    share, positional = (np.array(column) for column in zip(*cases, strict=True))
    case = {"share": share, "positional": positional, "bound": np.array(bounds)}
    for n, m in sizes:
        margin, draw = fixed_attention_margin(n, m)
        finds = hunt(margin, draw, case, starts=starts, steps=steps, seed=seed)
        for (s, p), bound, find in zip(cases, bounds, finds, strict=True):
            yield SearchedRisk(n, m, s, p, find.margin + bound, bound)


def train_on_frozen_heads(n: int, *, steps: int, seed: int) -> Mean:
    """Mean risk of nets trained above three frozen random heads at temperature 0.3, k = 3."""
    data = Population(random_parities(n, 3, 12, key=seed))
    return Mean.of(learn(FrozenAttention(heads=3, steps=steps), data, key=seed).risk)
