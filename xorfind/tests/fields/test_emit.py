"""Code in C and Python gives what the rows say."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from xor_hunters import crc

from xorfind.fields import hunt, read_fields
from xorfind.fields.crc import catalogue, find_crc
from xorfind.fields.emit import code_of, emit, emit_checksum
from xorfind.fields.equations import Conventions
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.sums import FAMILIES, SumFit, value_of

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
MESSAGE = [ctypes.c_char_p, ctypes.c_size_t]
NAMED = {named.name: named for named in catalogue()}


def functions(made, name, folder, types):
    """The function in Python, and in C where there is a compiler. made: language to source."""
    space = {}
    exec(made("python"), space)
    yield space[name]
    if COMPILER is not None:
        source, library = folder / f"{name}.c", folder / f"{name}.so"
        source.write_text(made("c"))
        flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-std=c99"]
        subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True)
        function = getattr(ctypes.CDLL(str(library)), name)
        function.restype, function.argtypes = ctypes.c_uint64, types
        yield lambda *values: function(*values, *map(len, values[: len(types) - 1]))


def test_a_matrix_of_integers(tmp_path):
    rows = np.zeros((3, 40), np.uint8)
    for row, bits in zip(rows, [(39, 12, 7), (33, 1), (0, 20, 21)], strict=True):
        row[[39 - bit for bit in bits]] = 1
    inputs = tuple(f"addr[{bit}]" for bit in range(39, -1, -1))
    matrix = XorMatrix(("b[2]", "b[1]", "b[0]"), inputs, rows, np.array([1, 0, 1], np.uint8))
    addresses = np.random.default_rng(0).integers(0, 2**40, 200).tolist()
    bits = np.array([[each >> bit & 1 for bit in range(39, -1, -1)] for each in addresses])
    expected = (matrix.apply(bits.astype(np.uint8)) @ [4, 2, 1]).tolist()
    types = [ctypes.c_uint64]
    for function in functions(lambda to: emit(matrix, to, "bank"), "bank", tmp_path, types):
        assert [function(each) for each in addresses] == expected


def test_a_matrix_of_frames(tmp_path):
    draw, lines = np.random.default_rng(1), []
    for _ in range(120):
        data = draw.bytes(4)
        lines.append((data + bytes([data[0] ^ (data[1] >> 3) ^ (data[3] << 2 & 255) ^ 9])).hex())
    matrix, types = hunt(read_fields(lines), "frame[-1]").matrix, [ctypes.c_char_p]
    for function in functions(lambda to: emit(matrix, to, "check"), "check", tmp_path, types):
        assert all(function(bytes.fromhex(line)) == int(line[-2:], 16) for line in lines)


@pytest.mark.parametrize(
    ("name", "tail"),
    [
        ("CRC-8/MAXIM-DOW", b""),
        ("CRC-16/MODBUS", b"\x7f"),
        ("CRC-64/XZ", b""),
        ("CRC-16/XMODEM", b""),
        ("CRC-8/SAE-J1850", b"\x34"),
    ],
)
def test_crcs(name, tail, tmp_path):
    named, draw, lines = NAMED[name], np.random.default_rng(2), []
    size, order = named.width // 8, "little" if named.refin else "big"
    for length in [5] * 10 + [8] * 10:
        data = draw.bytes(length)
        check = crc(data + tail, named).to_bytes(size, order)
        lines.append((data + check).hex())
    fit = find_crc(read_fields(lines).equations(f"frame[-{size}:-1]"))
    assert name in fit.names
    for function in functions(
        lambda to: emit_checksum(fit, to, "check"), "check", tmp_path, MESSAGE
    ):
        for data in map(bytes.fromhex, lines):
            assert function(data[:-size]) == int.from_bytes(data[-size:], "big")


def test_few_frames_of_a_crc_give_code_and_no_matrix():
    """Twenty frames leave a matrix of 24 inputs open; the CRC that they name is settled."""
    named, draw, space = NAMED["CRC-8/SMBUS"], np.random.default_rng(3), {}
    lines = [(d + bytes([crc(d, named)])).hex() for d in (draw.bytes(3) for _ in range(20))]
    finding = hunt(read_fields(lines), "frame[-1]")
    assert finding.matrix is not None
    assert finding.usable_matrix is None
    exec(code_of(finding, "python"), space)
    assert all(space["frame_1"](data) == crc(data, named) for data in map(bytes, (b"abc", b"xyz")))


def test_every_sum(tmp_path):
    draw = np.random.default_rng(4)
    data = [draw.bytes(int(length)) for length in draw.choice([4, 8, 12], 20)]
    widths = {"xor-bytes": 8, "xor-nibbles": 4, "sum-255": 8, "fletcher-8": 8}
    widths |= {"fletcher-32": 32, "adler-32": 32}
    widths |= dict.fromkeys(("luhn", "gtin", "isbn-10"), 8)
    for key, family in FAMILIES.items():
        width, name = widths.get(key, 16), "check_" + key.replace("-", "_")
        little, messages = width == 16, data
        if family.digits:
            messages = [bytes(byte % 10 for byte in each) for each in data]
        fit, expected = SumFit(key, width, 5, Conventions(little=little), 1, 1), []
        for each in messages:
            (value,) = value_of(key, np.frombuffer(each, np.uint8)[None], width).tolist()
            value = (value ^ 5 if family.joint == "xor" else value + 5) & ((1 << width) - 1)
            swapped = int.from_bytes(value.to_bytes(-(-width // 8), "big"), "little")
            expected.append(swapped if little else value)
        source = lambda language, f=fit, n=name: emit_checksum(f, language, n)  # noqa: E731
        for function in functions(source, name, tmp_path, MESSAGE):
            assert [function(each) for each in messages] == expected, key


def test_what_no_code_is_made_for():
    wide = XorMatrix(("y",), ("a[64]",), np.ones((1, 1), np.uint8), np.zeros(1))
    with pytest.raises(ValueError, match="up to 64 bits"):
        emit(wide, "c", "f")
