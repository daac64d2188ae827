"""CRCs, sums and shapes of matrices are found and named; what is none is not named."""

import binascii
import zlib

import numpy as np
import pytest

from paritylab.discovery.fields import Outcome, hunt, read_fields
from paritylab.discovery.fields.crc import crc
from paritylab.discovery.fields.crc_catalogue import CATALOGUE
from paritylab.discovery.fields.polynomials import divisors_of_degree, factors, product, remainder
from paritylab.discovery.fields.sums import FAMILIES
from paritylab.discovery.fields.text import lines_of, name_of

NAMED = {named.name: named for named in CATALOGUE}


def test_check_values_of_the_catalogue():
    wrong = [named.name for named in CATALOGUE if crc(b"123456789", named) != named.check]
    assert not wrong
    assert len({named[1:7] for named in CATALOGUE}) == len(CATALOGUE) > 80


def test_the_definition_agrees_with_the_standard_library():
    data = b"an independent route"
    assert crc(data, NAMED["CRC-32/ISO-HDLC"]) == zlib.crc32(data)
    assert crc(data, NAMED["CRC-16/XMODEM"]) == binascii.crc_hqx(data, 0)


def frames_of(check, width, rows=24, lengths=(6, 9), seed=0, order="big"):
    draw = np.random.default_rng(seed)
    lines = []
    for _ in range(rows):
        data = draw.bytes(int(draw.choice(lengths)))
        lines.append((data + check(data).to_bytes(width // 8, order)).hex())
    return lines


def found(lines, target):
    table = read_fields(lines)
    return hunt(table, table.select(target), budget=0.5)


@pytest.mark.grid(12)
@pytest.mark.parametrize(
    "named", [c for c in CATALOGUE if c.width in (8, 16, 24, 32, 64)], ids=lambda c: c.name
)
def test_every_crc_of_whole_bytes_is_named(named):
    size = named.width // 8
    finding = found(frames_of(lambda d: crc(d, named), named.width), f"frame[-{size}:-1]")
    assert finding.outcome == Outcome.NAMED
    assert named.name in finding.crc.names
    assert finding.crc.poly == named.poly
    assert (finding.crc.init, finding.crc.xorout) == (named.init, named.xorout)


def test_a_crc_that_is_stored_little_endian_with_a_sync_byte_outside():
    named = NAMED["CRC-16/XMODEM"]
    inside = frames_of(lambda d: crc(d, named), 16, order="little")
    finding = found(["aa" + line for line in inside], "frame[-2:-1]")
    assert finding.crc.names == ("CRC-16/XMODEM",)
    assert finding.crc.conventions.little
    assert finding.crc.conventions.skip == 1


def test_a_crc_of_no_catalogue_and_its_constants_from_two_lengths():
    own = NAMED["CRC-16/XMODEM"]._replace(poly=0x1A2D, init=0x1234, xorout=0x0FF0)
    finding = found(frames_of(lambda d: crc(d, own), 16), "frame[-2:-1]")
    assert finding.crc.poly == 0x1A2D
    assert finding.crc.names == ()
    if finding.crc.freedom == 0:
        assert (finding.crc.init, finding.crc.xorout) == (0x1234, 0x0FF0)
    fixed = own._replace(init=finding.crc.init, xorout=finding.crc.xorout)
    assert crc(b"sixsix", fixed) == crc(b"sixsix", own)


def test_wrong_rows_are_tolerated_and_listed():
    named = NAMED["CRC-8/SMBUS"]
    lines = frames_of(lambda d: crc(d, named), 8, rows=60)
    for at in (7, 30, 41):
        lines[at] = lines[at][:-2] + f"{int(lines[at][-2:], 16) ^ 0x21:02x}"
    finding = found(lines, "frame[-1]")
    assert finding.outcome == Outcome.NAMED
    assert finding.crc.names == ("CRC-8/SMBUS",)
    assert finding.wrong == (8, 31, 42)


def fletcher16(data):
    a = b = 0
    for byte in data:
        a = (a + byte) % 255
        b = (b + a) % 255
    return b << 8 | a


def internet(data):
    padded = data + b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(padded[i : i + 2], "big") for i in range(0, len(padded), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def xored(data):
    made = 0x3C
    for byte in data:
        made ^= byte
    return made


SUMS = {
    "xor-bytes": (xored, 8),
    "sum-bytes": (lambda d: (sum(d) + 7) & 255, 8),
    "negative-sum": (lambda d: -sum(d) & 0xFFFF, 16),
    "sum-nibbles": (lambda d: sum((b >> 4) + (b & 15) for b in d) & 255, 8),
    "sum-255": (lambda d: sum(d) % 255, 8),
    "internet": (internet, 16),
    "fletcher-16": (fletcher16, 16),
    "adler-32": (zlib.adler32, 32),
    "sum-big": (lambda d: sum(d[::2]) * 256 + sum(d[1::2]) & 0xFFFF, 16),
    "sum-little": (lambda d: sum(d[1::2]) * 256 + sum(d[::2]) & 0xFFFF, 16),
}


@pytest.mark.parametrize("family", SUMS)
def test_families_of_sums(family):
    check, width = SUMS[family]
    lines = frames_of(check, width, rows=40, lengths=(6, 10))
    finding = found(lines, f"frame[-{width // 8}:-1]")
    assert finding.outcome == Outcome.NAMED
    assert finding.sums[0].fitting == 40
    if family.startswith("sum-") and width == 16:  # a byte order is part of the name
        assert finding.sums[0].family in ("sum-big", "sum-little")
    else:
        assert finding.sums[0].family == family
    assert family in FAMILIES


def test_a_random_field_is_nothing():
    draw = np.random.default_rng(1)
    finding = found([draw.bytes(6).hex() for _ in range(300)], "frame[-1]")
    assert finding.outcome == Outcome.NOTHING
    assert not finding.found
    bit, lines = finding.proof
    assert len(lines) % 2 == 0
    assert finding.system.outputs[bit].startswith("frame[-1]")


def test_a_proof_of_contradiction_adds_up():
    draw = np.random.default_rng(2)
    texts = [draw.bytes(3).hex() for _ in range(60)]
    finding = found(texts, "frame[-1]")
    bit, lines = finding.proof
    rows = np.array([list(bytes.fromhex(texts[line - 1])) for line in lines], np.uint8)
    sums = np.bitwise_xor.reduce(rows, axis=0)
    assert sums[:2].tolist() == [0, 0]
    assert np.unpackbits(sums[2:])[bit] == 1


def test_too_few_rows_are_not_sold_as_linear():
    draw = np.random.default_rng(3)
    finding = found([draw.bytes(9).hex() for _ in range(30)], "frame[-1]")
    assert finding.outcome == Outcome.TOO_FEW
    assert not finding.found


def test_one_frame_captured_often_proves_nothing():
    finding = found(["01020304"] * 50 + ["01020405"] * 50, "frame[-1]")
    assert not finding.found
    assert finding.distinct == 2


def matrix_table(rows, constants, count=120, seed=0):
    draw = np.random.default_rng(seed)
    n, w = rows.shape[1], rows.shape[0]
    bits = draw.integers(0, 2, (count, n)).astype(np.uint8)
    out = ((bits @ rows.T) & 1) ^ constants
    text = ["".join(map(str, row)) for row in bits.tolist()]
    return {"data": text, "check": ["".join(map(str, row)) for row in out.tolist()]}, w


def shape_of(rows, constants=0):
    table, w = matrix_table(np.array(rows, np.uint8), np.full(len(rows), constants, np.uint8))
    fields = read_fields(table)
    return name_of(hunt(fields, fields.select("check" if w > 1 else "check[0]")))


def test_shapes():
    eye = np.eye(5, dtype=np.uint8)
    hamming = [[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]]
    assert shape_of(hamming) == "a Hamming code (7, 4)"
    assert "XOR of 3 words of 5 bits (RAID-4/5 parity)" in shape_of(np.hstack([eye, eye, eye]))
    register = np.eye(7, k=-1, dtype=np.uint8)
    register[0, [3, 6]] = 1
    assert "LFSR (Fibonacci" in shape_of(register)
    scrambler = np.eye(32, dtype=np.uint8)
    for row in range(32):
        for tap in (4, 7):
            if row >= tap:
                scrambler[row] ^= scrambler[row - tap]
    assert "self-synchronising scrambler" in shape_of(scrambler)
    assert "x^7 + x^3 + 1" in shape_of(scrambler)


def test_raid_6_by_its_definition():
    def double(byte):
        return (byte << 1 ^ (0x11D if byte & 0x80 else 0)) & 0xFF

    draw, lines = np.random.default_rng(0), []
    for _ in range(80):
        data, q = draw.bytes(5), 0
        for byte in reversed(data):
            q = double(q) ^ byte
        lines.append((data + bytes([q])).hex())
    assert "RAID-6" in name_of(found(lines, "frame[-1]"))


def test_factors_and_divisors():
    draw = np.random.default_rng(0)
    for _ in range(20):
        value = int(draw.integers(3, 1 << 20)) | 1
        parts, whole = factors(value, 20), 1
        for part in parts:
            whole = product(whole, part)
        assert whole == value
    generator = 0x11021
    assert generator in divisors_of_degree(product(generator, 0b1011), 16)
    assert remainder(product(generator, 0b1011), generator) == 0


def test_words_say_what_is_open():
    named = NAMED["CRC-8/SMBUS"]
    finding = found(frames_of(lambda d: crc(d, named), 8, rows=12, lengths=(5,)), "frame[-1]")
    text = "\n".join(lines_of(finding))
    assert "CRC-8/SMBUS" in text
    assert "2^8 pairs give the same" in text
