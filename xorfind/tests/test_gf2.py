"""Elimination against plain elimination, certificates re-added, all bits of a checksum at once."""

import numpy as np
import pytest

from xorfind import contradicting_rows, solution_spaces
from xorfind.gf2 import affine_solutions, echelon, solve_many
from xorfind.rows import packed, unpacked
from xorfind.solvers.elimination import sparsest_member


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
    np.testing.assert_array_equal(unpacked(packed(bits), 130), bits)


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
    form = echelon(packed(bits), shape[1])
    assert plain_rank(bits[form.order[: form.rank]]) == form.rank == plain_rank(bits)


@pytest.mark.parametrize("seed", range(6))
def test_a_contradiction_adds_up(seed):
    generator = np.random.default_rng(seed)
    bits = random_bits(60, 20, seed, rank=None if seed % 2 else 9)
    labels = 1 - 2 * (bits[:, [2, 5]].sum(axis=1).astype(int) % 2)
    assert contradicting_rows(bits, labels) is None
    labels[generator.integers(60)] *= -1
    rows = list(contradicting_rows(bits, labels))
    assert not (bits[rows].sum(axis=0) % 2).any()
    assert len(rows) % 2 == 0
    assert (labels[rows] == -1).sum() % 2 == 1
    assert solution_spaces(bits, labels) == [None]


def test_all_bits_of_a_checksum_in_one_elimination():
    """CRC-8 of 24-bit messages is affine in the message: eight parities with constants."""
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2, (60, 24), dtype=np.uint8)
    sums = []
    for message in bits.tolist():
        state = 0xFF
        for bit in message:
            state = ((state << 1) ^ (0x07 if (state >> 7) ^ bit else 0)) & 0xFF
        sums.append([(state >> at) & 1 for at in range(8)])
    labels = 1 - 2 * np.array(sums)
    for side, found in enumerate(solution_spaces(bits, labels)):
        assert found.basis == ()
        odd = bits[:, list(found.subset)].sum(axis=1) % 2
        np.testing.assert_array_equal(found.sign * (1 - 2 * odd.astype(int)), labels[:, side])


def test_dependent_columns_give_a_space_with_its_sparsest_member():
    bits = random_bits(40, 6, 3)
    bits = np.concatenate([bits, bits[:, :1] ^ bits[:, 1:2] ^ bits[:, 2:3] ^ 1], axis=1)
    labels = 1 - 2 * (bits[:, [0, 1, 2]].sum(axis=1).astype(int) % 2)
    (found,) = solution_spaces(bits, labels)
    assert found.sparsest == (6,)
    assert found.basis == (((0, 1, 2, 6), True),)
    assert found.looked == 2


def test_the_search_for_the_sparsest_says_where_it_looked():
    generator = np.random.default_rng(0)
    basis, solution = generator.integers(0, 2, (20, 40)), generator.integers(0, 2, 40)
    best, looked = sparsest_member(solution, basis)
    assert looked == 1 + 20 + 190
    assert best[:-1].sum() <= solution[:-1].sum()


def test_many_small_systems_at_once():
    generator = np.random.default_rng(0)
    bits, hidden = generator.integers(0, 2, (9, 20, 12)), generator.integers(0, 2, (9, 12))
    sides = np.einsum("src,sc->sr", bits, hidden) % 2
    sides[4, 3] ^= 1
    both = np.concatenate([bits, sides[:, :, None]], axis=2).astype(np.uint8)
    solutions, fits = solve_many(np.stack([packed(each) for each in both]), 12)
    assert fits.tolist() == [True] * 4 + [False] + [True] * 4
    np.testing.assert_array_equal(solutions[fits], hidden[fits])
