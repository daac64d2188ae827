"""CRCs, sums and shapes of matrices are found and named; what is none is not named."""

import binascii
import zlib

import numpy as np
import pytest
from xor_hunters import crc

from xorfind.fields import Outcome, hunt, read_fields
from xorfind.fields.crc import catalogue
from xorfind.fields.text import lines_of, name_of

NAMED = {named.name: named for named in catalogue()}
#: Lengths of messages in bytes, whether the frames are a column of a table, and wrong rows.
LOGS = {
    "one length": ((8,), False, ()),
    "one length, a column": ((5,), True, ()),
    "two lengths": ((6, 9), False, ()),
    "a log": ((1, 3, 5, 6, 7), True, ()),
    "wrong rows": ((6, 9), False, (8, 31, 42)),
}


def frames_of(check, width, rows=24, lengths=(6, 9), order="big"):
    draw = np.random.default_rng(0)
    lines = []
    for _ in range(rows):
        data = draw.bytes(int(draw.choice(lengths)))
        lines.append((data + check(data).to_bytes(width // 8, order)).hex())
    return lines


def found(lines, target):
    return hunt(read_fields(lines), target, budget=0.5)


def test_the_catalogue_and_the_definition():
    wrong = [named.name for named in catalogue() if crc(b"123456789", named) != named.check]
    assert not wrong
    assert len({named[1:7] for named in catalogue()}) == len(catalogue()) == 112
    data = b"an independent route"
    assert crc(data, NAMED["CRC-32/ISO-HDLC"]) == zlib.crc32(data)
    assert crc(data, NAMED["CRC-16/XMODEM"]) == binascii.crc_hqx(data, 0)


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize(
    "named", [c for c in catalogue() if c.width in (8, 16, 24, 32, 64)], ids=lambda c: c.name
)
def test_every_crc_of_whole_bytes_is_named(named, log):
    size, (lengths, in_table, wrong) = named.width // 8, LOGS[log]
    rows = 60 if wrong else 24
    lines = frames_of(lambda d: crc(d, named), named.width, rows, lengths)
    for line in wrong:
        lines[line - 1] = lines[line - 1][:-2] + f"{int(lines[line - 1][-2:], 16) ^ 0x21:02x}"
    table = {"id": ["1a3"] * len(lines), "frame": lines} if in_table else lines
    finding = hunt(read_fields(table), f"frame[-{size}:-1]", [f"frame[0:-{size + 1}]"])
    assert finding.outcome == Outcome.NAMED
    assert named.name in finding.crc.names
    assert finding.crc.poly == named.poly
    assert finding.wrong == wrong
    if len(lengths) > 1:
        assert (finding.crc.init, finding.crc.xorout) == (named.init, named.xorout)


def test_a_length_of_one_wrong_frame_does_not_hide_the_constants():
    named = NAMED["CRC-16/MODBUS"]
    lines = [*frames_of(lambda d: crc(d, named), 16, rows=60), "0102030405060708ffff"]
    finding = found(lines, "frame[-2:-1]")
    assert finding.crc.names == ("CRC-16/MODBUS",)
    assert finding.wrong == (61,)


def test_a_constant_before_the_message_is_told_from_a_new_polynomial():
    named = NAMED["CRC-8/SAE-J1850"]
    finding = found(frames_of(lambda d: crc(b"\x34\x12" + d, named), 8), "frame[-1]")
    assert finding.crc.names == ()
    text = "\n".join(lines_of(finding))
    assert "the polynomial of CRC-8/GSM-A, CRC-8/HITAG, CRC-8/I-CODE, CRC-8/SAE-J1850" in text
    assert "a constant before the message" in text


def test_a_crc_that_is_stored_little_endian():
    named = NAMED["CRC-16/XMODEM"]
    inside = frames_of(lambda d: crc(d, named), 16, order="little")
    finding = found(inside, "frame[-2:-1]")
    assert finding.crc.names == ("CRC-16/XMODEM",)
    assert finding.crc.how.little


@pytest.mark.parametrize(
    ("name", "tail", "lengths"),
    [
        ("CRC-8/AUTOSAR", b"\x34\x12", (6, 8)),
        ("CRC-16/IBM-3740", b"\xab\xcd", (6, 9)),
        ("CRC-16/MODBUS", b"\x7f", (6,)),
        ("CRC-32/ISO-HDLC", b"\x01\x02\x03", (5, 7)),
    ],
)
def test_a_constant_that_is_checked_after_the_message_but_not_sent(name, tail, lengths):
    named = NAMED[name]
    lines = frames_of(lambda d: crc(d + tail, named), named.width, lengths=lengths)
    finding = found(lines, f"frame[-{named.width // 8}:-1]")
    assert finding.outcome == Outcome.NAMED
    shown = finding.crc.tails[finding.crc.names.index(name)]
    if 8 * len(tail) <= named.width:
        assert shown == tail.hex()
    text = "\n".join(lines_of(finding))
    assert f"with 0x{finding.crc.tails[0]} after the message, which is not sent" in text
    assert f"{name} with 0x{shown}" in text or finding.crc.names[0] == name
    assert ("256 constants of 2 bytes" in text) == (8 * len(tail) > named.width)


def test_words_whose_bytes_are_in_the_other_order_are_named_in_that_order():
    named = NAMED["CRC-16/XMODEM"]
    lines = frames_of(lambda d: crc(bytes([d[1], d[0], d[3], d[2]]), named), 16, lengths=(4,))
    finding = hunt(read_fields(lines), "frame[-2:-1]", ["frame[1:0],frame[3:2]"])
    assert finding.crc.names[0] == "CRC-16/XMODEM"


def luhn(digits):
    doubled = [int(digit) * (1 + at % 2) for at, digit in enumerate(digits[::-1], 1)]
    return -sum(value - 9 * (value > 9) for value in doubled) % 10


def gtin(digits):
    return -sum(int(digit) * (3, 1)[at % 2] for at, digit in enumerate(digits[::-1])) % 10


def isbn(digits):
    return -sum(int(digit) * (at + 2) for at, digit in enumerate(digits[::-1])) % 11


@pytest.mark.parametrize(
    ("family", "check", "known"),
    [
        ("luhn", luhn, "79927398713"),
        ("gtin", gtin, "4006381333931"),
        ("isbn-10", isbn, "097522980X"),
    ],
)
def test_check_digits_by_name(family, check, known):
    assert check(known[:-1]) == (10 if known[-1] == "X" else int(known[-1]))
    draw = np.random.default_rng(0)
    numbers = ["".join(map(str, draw.integers(0, 10, len(known) - 1))) for _ in range(40)]
    columns = {f"d{at}": list(column) for at, column in enumerate(zip(*numbers, strict=True))}
    in_bytes = [bytes([*map(int, number), check(number)]).hex() for number in numbers]
    findings = [hunt(read_fields({**columns, "check": [*map(check, numbers)]}), "check")]
    for finding in [*findings, found(in_bytes, "frame[-1]")]:
        assert finding.outcome == Outcome.NAMED
        assert finding.sums[0].family == family
        assert (finding.sums[0].fitting, finding.sums[0].constant) == (40, 0)


#: Families that the frozen tables of net/ do not have, with their widths.
SUMS = {
    "negative-sum": (lambda d: -sum(d) & 0xFFFF, 16),
    "sum-nibbles": (lambda d: sum((b >> 4) + (b & 15) for b in d) & 255, 8),
    "places-up": (lambda d: sum(at * b for at, b in enumerate(d, 1)) & 255, 8),
    "places-down": (lambda d: sum(at * b for at, b in enumerate(d[::-1], 1)) & 0xFFFF, 16),
    "sum-255": (lambda d: sum(d) % 255, 8),
    "adler-32": (zlib.adler32, 32),
}


@pytest.mark.parametrize("family", SUMS)
def test_families_of_sums(family):
    check, width = SUMS[family]
    lines = frames_of(check, width, rows=40, lengths=(6, 10))
    finding = found(lines, f"frame[-{width // 8}:-1]")
    assert finding.outcome == Outcome.NAMED
    assert (finding.sums[0].family, finding.sums[0].fitting) == (family, 40)


def test_a_random_field_is_nothing_and_the_proof_adds_up():
    draw = np.random.default_rng(2)
    texts = [draw.bytes(3).hex() for _ in range(300)]
    finding = found(texts, "frame[-1]")
    assert finding.outcome == Outcome.NOTHING
    bit, lines = finding.proof
    assert len(lines) % 2 == 0
    rows = np.array([list(bytes.fromhex(texts[line - 1])) for line in lines], np.uint8)
    sums = np.bitwise_xor.reduce(rows, axis=0)
    assert sums[:2].tolist() == [0, 0]
    assert np.unpackbits(sums[2:])[bit] == 1


def scrambled(bits, taps):
    """s_t = d_t + the bits sent `taps` steps before."""
    sent = []
    for at, bit in enumerate(bits):
        sent.append(bit ^ (sum(sent[at - tap] for tap in taps if tap <= at) & 1))
    return sent


def descrambled(bits, taps):
    return [bit ^ (sum(bits[at - t] for t in taps if t <= at) & 1) for at, bit in enumerate(bits)]


def as_number(bits):
    return int("".join(map(str, bits)), 2)


def on_number(step, width):
    """A function of a number as one of bits, most significant first."""
    return lambda bits: [int(each) for each in format(step(as_number(bits)), f"0{width}b")]


def fibonacci(state):
    bit = (state ^ state >> 2 ^ state >> 3 ^ state >> 5) & 1
    return state >> 1 | bit << 15


def galois(state):
    return state >> 1 ^ (0xB400 if state & 1 else 0)


#: Names by the delays of bits; both registers have the period 2^16 - 1. None: no name is true.
SHAPES = [
    (
        "(Fibonacci, shift right), polynomial x^16 + x^14 + x^13 + x^11 + 1",
        16,
        on_number(fibonacci, 16),
    ),
    ("(Galois, shift right), polynomial x^16 + x^14 + x^13 + x^11 + 1", 16, on_number(galois, 16)),
    (
        "a self-synchronising scrambler with polynomial x^7 + x^6 + 1",
        32,
        lambda bits: scrambled(bits, (6, 7)),
    ),
    (
        "a descrambler (of a self-synchronising scrambler) with polynomial x^7 + x^6 + 1",
        32,
        lambda bits: descrambled(bits, (6, 7)),
    ),
    (None, 32, lambda bits: scrambled(descrambled(bits, (1, 5)), (6, 7))),
    ("the Gray code of input bits", 16, on_number(lambda number: number ^ number >> 1, 16)),
    ("the number whose Gray code the input bits are", 12, lambda bits: scrambled(bits, (1,))),
    ("input bits XOR a fixed key", 8, on_number(lambda number: number ^ 0x5A, 8)),
    ("a permutation of input bits", 8, lambda bits: bits[::-1]),
    ("a parity bit (odd) of all input bits", 16, lambda bits: [1 ^ sum(bits) & 1]),
]


@pytest.mark.parametrize(("name", "width", "function"), SHAPES)
def test_shapes(name, width, function):
    draw = np.random.default_rng(0)
    rows = [draw.integers(0, 2, width).tolist() for _ in range(8 * width)]
    made = [as_number(function(bits)) for bits in rows]
    fields = read_fields({"data": ["".join(map(str, bits)) for bits in rows], "check": made})
    finding = hunt(fields, "check")
    assert finding.outcome == Outcome.LINEAR
    shown = name_of(finding)
    assert shown is None if name is None else name in shown
