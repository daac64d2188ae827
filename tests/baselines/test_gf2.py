"""Elimination against plain elimination, certificates re-added."""

import time

import numpy as np
import pytest

from paritylab.baselines.elimination import sparsest_member
from paritylab.baselines.gf2 import (
    affine_solutions,
    contradictory_rows,
    echelon,
    pack_bits,
    solve_augmented,
    solve_systems,
    unpack_bits,
)


def plain_rank(bits):
    rows, rank = [int("".join(map(str, row)), 2) for row in bits.tolist()], 0
    while rows:
        pivot = rows.pop()
        if pivot:
            rank += 1
            low = pivot & -pivot
            rows = [row ^ pivot if row & low else row for row in rows]
    return rank


def random_bits(rows, columns, seed, rank=None):
    generator = np.random.default_rng(seed)
    if rank is None:
        return generator.integers(0, 2, (rows, columns), dtype=np.uint8)
    left, right = (generator.integers(0, 2, shape) for shape in ((rows, rank), (rank, columns)))
    return (left @ right % 2).astype(np.uint8)


def test_packing_goes_both_ways():
    bits = random_bits(7, 130, 0)
    np.testing.assert_array_equal(unpack_bits(pack_bits(bits), 130), bits)


@pytest.mark.parametrize("shape", [(3, 70), (70, 3), (64, 64), (130, 129), (40, 90), (1, 1)])
@pytest.mark.parametrize("rank", [None, 2])
def test_solutions_solve_and_the_basis_is_whole(shape, rank):
    bits = random_bits(*shape, seed=sum(shape), rank=rank)
    hidden = random_bits(shape[1], 3, 1)
    sides = (bits.astype(int) @ hidden % 2).astype(np.uint8)
    found = affine_solutions(bits, sides)
    assert found.consistent.all()
    np.testing.assert_array_equal(bits.astype(int) @ found.solutions.T % 2, sides)
    assert not (bits.astype(int) @ found.basis.T % 2).any()
    assert len(found.basis) == shape[1] - plain_rank(bits)
    form = echelon(pack_bits(bits), shape[1])
    assert plain_rank(bits[form.order[: form.rank]]) == form.rank == plain_rank(bits)


@pytest.mark.parametrize("seed", range(6))
def test_a_contradiction_adds_up(seed):
    generator = np.random.default_rng(seed)
    bits = random_bits(60, 20, seed, rank=None if seed % 2 else 9)
    labels = bits[:, 2] ^ bits[:, 5]
    assert contradictory_rows(bits, labels) is None
    labels[generator.integers(60)] ^= 1
    rows = contradictory_rows(bits, labels)
    assert not (bits[rows].sum(axis=0) % 2).any()
    assert labels[rows].sum() % 2 == 1


def test_the_sparsest_member_and_how_many_were_looked_at():
    bits = random_bits(40, 6, 3)
    label = bits[:, 0] ^ bits[:, 1] ^ bits[:, 2]
    constant = np.ones((40, 1), np.uint8)
    found = affine_solutions(np.concatenate([bits, label[:, None], constant], 1), label[:, None])
    best, looked = sparsest_member(found.solutions[0], found.basis)
    assert (np.flatnonzero(best).tolist(), looked) == ([6], 2)
    generator = np.random.default_rng(0)
    basis, solution = generator.integers(0, 2, (20, 40)), generator.integers(0, 2, 40)
    best, looked = sparsest_member(solution, basis)
    assert looked == 1 + 20 + 190
    assert best[:-1].sum() <= solution[:-1].sum()


def test_elimination_minds_the_clock_and_writes_down_only_what_is_wanted():
    with pytest.raises(TimeoutError, match="out of time"):
        echelon(pack_bits(random_bits(300, 200, 0)), 200, time.perf_counter() - 1)
    bits = random_bits(20, 50, 0)
    some, whole = solve_augmented(bits, 50, basis_size=4), solve_augmented(bits, 50)
    assert (some.dimension, whole.dimension) == (30, 30)
    np.testing.assert_array_equal(some.basis, whole.basis[:4])


def test_many_small_systems_at_once():
    generator = np.random.default_rng(0)
    bits, hidden = generator.integers(0, 2, (9, 20, 12)), generator.integers(0, 2, (9, 12))
    sides = np.einsum("src,sc->sr", bits, hidden) % 2
    sides[4, 3] ^= 1
    both = np.concatenate([bits, sides[:, :, None]], axis=2).astype(np.uint8)
    solutions, fits = solve_systems(np.stack([pack_bits(each) for each in both]), 12)
    assert fits.tolist() == [True] * 4 + [False] + [True] * 4
    np.testing.assert_array_equal(solutions[fits], hidden[fits])
