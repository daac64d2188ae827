"""The gradient on every kind of token, against enumeration; the count of trivial products."""

from itertools import product

import numpy as np
import pytest

from paritylab.models import LINKS
from paritylab.problem import ParityTree
from paritylab.theory.ks import level_signal
from paritylab.theory.ks_gradient import chained_fours, level_gradient, trivial_fours


def enumerated(tree, level, link):
    """∂L/∂w of the first node on a level for every token below, over all inputs."""
    signs = np.array(list(product([1.0, -1.0], repeat=tree.n)))
    tokens = np.asarray(tree.tokens(signs), dtype=np.float64)
    seen, node = tree.ends[level - 1], tree.ends[level - 1]
    z = tokens[:, :seen].mean(axis=1)
    residual = (np.asarray(link(z)) - tokens[:, node]) * np.asarray(link.slope(z))
    return np.mean(residual[:, None] * (tokens[:, :seen] - z[:, None]), axis=0) / seen


@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_kind_of_token_agrees_with_enumeration(level):
    tree, link = ParityTree(9, (0, 1, 2, 3, 4, 5, 6, 7)), LINKS["cos"]
    found = enumerated(tree, level, link)
    kinds = level_gradient(9, 8, level, link)
    spread = np.concatenate([[kind.gradient] * kind.tokens for kind in kinds])
    assert np.sort(found) == pytest.approx(np.sort(spread), abs=1e-7)
    assert kinds[0].gradient == pytest.approx(-level_signal(9, 8, level, link), rel=1e-9)
    assert sum(kind.tokens for kind in kinds) == tree.ends[level - 1]


def test_trivial_products_by_brute_force():
    tree = ParityTree(4, (0, 1, 2, 3))
    signs = np.array(list(product([1, -1], repeat=4)))
    tokens = np.asarray(tree.tokens(signs), dtype=int)
    count = sum(
        bool(np.all(np.prod(tokens[:, list(chosen)], axis=1) == 1))
        for chosen in product(range(7), repeat=4)
    )
    fours = trivial_fours(tree, 7)
    assert (fours.total, fours.chained) == (count, chained_fours(4, 4, 7))
