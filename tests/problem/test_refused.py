"""Bad arguments of problems, bits, keys and runs: each in one clear line."""

import numpy as np
import pytest

from paritylab.learning import Correlation, Heads, Population, Sample, learn
from paritylab.models import HeadAttention
from paritylab.problem import (
    Junta,
    Parity,
    as_bits,
    batches,
    bits_from_signs,
    random_junta,
    random_parities,
    random_parity,
    random_tree,
    random_trees,
    sample,
)
from paritylab.problem.keys import as_key
from paritylab.sweep import Spec

X64_MODES = [False]
PAIR = Parity(8, (1, 2))

REFUSED = [
    (lambda: Parity(0, ()), "at least 1, got 0"),
    (lambda: Parity(2.5, ()), "whole number, got 2.5"),
    (lambda: Parity(3, (0, 1, 2, 3)), "got k=4"),
    (lambda: Parity(3, (1, 1)), "1 twice"),
    (lambda: Parity(3, (3,)), "in 0..2, got 3"),
    (lambda: Parity(3, 7), "list of positions, got 7"),
    (lambda: Parity(3, (0,), sign=0), r"\+1 or -1, got 0"),
    (lambda: Parity(3, (0,), noise=0.5), "got 0.5"),
    (lambda: Parity(3, (0,), noise=float("nan")), "got nan"),
    (lambda: Parity(3, (0,), bias=0.0), "got 0.0"),
    (lambda: Parity(3, (0,), bias=(0.5, 0.5)), r"got shape \(2,\)"),
    (lambda: random_parity(0, 5, 3, neighbours=False), "need n ≥ 6, got n=5"),
    (lambda: Junta(5, (0, 1), (1, 1, 1)), "4 values, got"),
    (lambda: Junta.of(20, range(13), np.prod), "at most 12, got 13"),
    (lambda: Junta(5, (0,), (1, np.nan)), "finite values"),
    (lambda: Junta(5, (0,), (0.5, 1), noise=0.1), r"needs a table of \+1 and -1"),
    (lambda: Junta.majority(5, (0, 1)), "odd number"),
    (lambda: Junta.multiplexer(9, (0, 1), (2, 3)), "4 data bits, got 2"),
    (lambda: Junta.majority(5, (0, 1, 2)).label([0, 1]), "length n=5"),
    (lambda: random_junta(0, 5, 2, values=(1.0,)), "give two values"),
    (lambda: random_tree(0, 64, 12), "8 and 16"),
    (lambda: random_tree(0, 64, 3), "2 and 4"),
    (lambda: random_tree(0, 64, 1), "2 and 4"),
    (lambda: random_tree(0, 8, 16), "between 0 and n=8, got 16"),
    (lambda: as_bits([0, 2]), "got 2"),
    (lambda: as_bits([0.5]), "got 0.5"),
    (lambda: as_bits([float("nan")]), "got nan"),
    (lambda: as_bits(["a"]), "got .*a"),
    (lambda: as_bits([-1, 1]), "use bits_from_signs"),
    (lambda: bits_from_signs([1, 0]), "got 0"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_bad_arguments_are_one_clear_line(make, words):
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


KEYED = [
    as_key,
    lambda key: random_parity(key, 8, 2),
    lambda key: random_parities(8, 2, 3, key=key),
    lambda key: random_trees(8, 2, 3, key=key),
    lambda key: sample(PAIR, key, 5),
    lambda key: next(batches(PAIR, key, 5)),
    lambda key: HeadAttention.random(key, PAIR),
    lambda key: learn(Heads.code(steps=1), Population(PAIR), runs=1, key=key),
    lambda key: learn(Correlation(k=2), Sample(PAIR, 9), runs=1, key=key),
]


@pytest.mark.parametrize("seed", [-1, 2**32, 2**64, True])
def test_seeds_that_would_repeat_are_refused(seed):
    """Wherever one is taken: keys, targets, rows, starts, runs."""
    for door in KEYED:
        with pytest.raises(ValueError, match="a seed must be"):
            door(seed)


@pytest.mark.parametrize("first", [-1, 2**32 - 2, 2**64])
def test_numbers_of_runs_that_would_repeat_are_refused(first):
    for door in (
        lambda: random_parities(8, 2, 3, first=first),
        lambda: random_trees(8, 2, 3, first=first),
        lambda: learn(Heads.code(steps=1), Population(PAIR), runs=3, first_run=first),
        lambda: Spec.make("heads", {"n": 8, "k": 2}, {}, block=3, first=first),
    ):
        with pytest.raises(ValueError, match=r"2³²|first run must be|whole number ≥ 0"):
            door()
