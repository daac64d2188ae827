"""Functions that groups share, from sets with wrong members and from timings."""

import numpy as np
import pytest

from paritylab.discovery.fields import XorMatrix, set_differences, shared_functions
from paritylab.discovery.fields.consistency import consistency, together
from paritylab.discovery.fields.hunt import hunt
from paritylab.discovery.fields.reading import read_fields
from paritylab.discovery.fields.slices import parse
from paritylab.discovery.fields.timings import histogram_lines, threshold

NAMES = tuple(f"addr[{bit}]" for bit in range(30))
BITS = ((7, 8, 9, 12, 13, 18, 19), (14, 18), (15, 19), (16, 20))


def truth():
    rows = np.zeros((4, 30), np.uint8)
    for row, bits in zip(rows, BITS, strict=True):
        row[list(bits)] = 1
    return XorMatrix(("a", "b", "c", "d"), NAMES, rows, np.zeros(4, np.uint8))


def sets(rows, noise, seed):
    draw = np.random.default_rng(seed)
    bits = draw.integers(0, 2, (rows, 30)).astype(np.uint8)
    groups = truth().apply(bits) @ [8, 4, 2, 1]
    wrong = draw.random(rows) < noise
    return bits, np.where(wrong, draw.integers(0, 16, rows), groups)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_functions_of_sets(noise):
    found = shared_functions(NAMES, *set_differences(*sets(800, noise, 1)))
    assert found.matrix.compared(truth()).same
    assert len(found.basis) == 4


def test_groups_that_share_nothing_have_no_function():
    draw = np.random.default_rng(0)
    bits = draw.integers(0, 2, (600, 30)).astype(np.uint8)
    found = shared_functions(NAMES, *set_differences(bits, draw.integers(0, 16, 600)), budget=1.0)
    assert len(found.basis) == 0


def test_a_bit_that_rarely_differs_is_no_function():
    """High address bits hardly change within a buffer, in one bank or not."""
    bits, groups = sets(800, 0.0, 2)
    bits[:, 29] = np.random.default_rng(0).random(800) < 0.02
    found = shared_functions(NAMES, *set_differences(bits, groups))
    assert found.matrix.compared(truth()).same


def test_few_differences_leave_functions_unproven_and_say_what_to_measure():
    bits, groups = sets(45, 0.0, 3)
    found = shared_functions(NAMES, *set_differences(bits, groups), budget=0.5)
    assert found.matrix.compared(truth()).common == len(found.basis)
    if len(found.basis) < 4:
        assert found.next_bit() in NAMES
    never = bits.copy()
    never[:, 3] = 1
    assert shared_functions(NAMES, *set_differences(never, groups), budget=0.5).never[3]


def test_a_threshold_where_slow_is_rare_and_some_were_interrupted():
    draw = np.random.default_rng(1)
    times = np.concatenate([draw.normal(220, 10, 3900), draw.normal(290, 10, 100)])
    times = np.append(times, draw.uniform(2000, 9000, 30))
    cut = threshold(times)
    assert 245 < cut.value < 270
    assert cut.separates
    assert cut.slow(times).sum() == pytest.approx(100, abs=6)
    lines = histogram_lines(times, cut)
    assert any("threshold" in line for line in lines)
    assert "30, taken for interrupts" in lines[-1]


def test_one_hump_is_not_cut():
    assert not threshold(np.random.default_rng(0).normal(200, 10, 3000)).separates
    with pytest.raises(ValueError, match="all timings are equal"):
        threshold(np.full(20, 200.0))


def test_a_table_by_opcode_finds_the_group_that_differs():
    draw, lines = np.random.default_rng(0), []
    for _ in range(240):
        opcode, data = int(draw.choice([0x11, 0x12, 0x13])), draw.bytes(3)
        linear = data[0] ^ (data[1] << 1 & 255) ^ (data[2] >> 1) ^ opcode
        check = sum(data) & 255 if opcode == 0x12 else linear
        lines.append((bytes([opcode]) + data + bytes([check])).hex())
    table = read_fields(lines)
    selection = table.select("frame[-1]")
    finding = hunt(table, selection, budget=2.0)
    assert finding.suspect == "frame[0] = 0x11 or 0x13"
    by = parse("frame[0]", table.names)
    groups = {group.key: group for group in consistency(table, selection, by)}
    assert "sum of all bytes" in groups["12"].verdict
    assert "linear" in groups["11"].verdict
    assert together(table, finding.system, by) == ("11", "13")
