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
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
NAMED = {named.name: named for named in catalogue()}


def compiled(text, name, folder):
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-std=c99"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True)
    function = getattr(ctypes.CDLL(str(library)), name)
    function.restype = ctypes.c_uint64
    return function


def in_python(text, name):
    space = {}
    exec(text, space)
    return space[name]


def bank_matrix():
    rows = np.zeros((3, 40), np.uint8)
    for row, bits in zip(rows, [(39, 12, 7), (33, 1), (0, 20, 21)], strict=True):
        row[[39 - bit for bit in bits]] = 1
    inputs = tuple(f"addr[{bit}]" for bit in range(39, -1, -1))
    return XorMatrix(("b[2]", "b[1]", "b[0]"), inputs, rows, np.array([1, 0, 1], np.uint8))


ADDRESSES = [int(a) for a in np.random.default_rng(0).integers(0, 2**40, 200)]


def by_matrix(matrix, values):
    bits = np.array([[v >> b & 1 for b in range(39, -1, -1)] for v in values], np.uint8)
    return (matrix.apply(bits) @ [4, 2, 1]).tolist()


@pytest.mark.parametrize("language", ["python", pytest.param("c", marks=needs_compiler)])
def test_a_matrix_of_integers(language, tmp_path):
    matrix = bank_matrix()
    text = emit(matrix, language, "bank")
    if language == "c":
        function = compiled(text, "bank", tmp_path)
        function.argtypes = [ctypes.c_uint64]
    else:
        function = in_python(text, "bank")
    assert [function(a) for a in ADDRESSES] == by_matrix(matrix, ADDRESSES)


@needs_compiler
def test_a_matrix_of_frames_in_c_and_python(tmp_path):
    draw, lines = np.random.default_rng(1), []
    for _ in range(120):
        data = draw.bytes(4)
        lines.append((data + bytes([data[0] ^ (data[1] >> 3) ^ (data[3] << 2 & 255) ^ 9])).hex())
    matrix = hunt(read_fields(lines), "frame[-1]").matrix
    c = compiled(emit(matrix, "c", "check"), "check", tmp_path)
    python = in_python(emit(matrix, "python", "check"), "check")
    for line in lines:
        data = bytes.fromhex(line)
        assert c(data) == python(data) == data[-1]


@needs_compiler
@pytest.mark.parametrize("name", ["CRC-8/MAXIM-DOW", "CRC-16/MODBUS", "CRC-64/XZ", "CRC-16/XMODEM"])
def test_crcs_in_c_and_python(name, tmp_path):
    named, draw, lines = NAMED[name], np.random.default_rng(2), []
    size = named.width // 8
    order = "little" if named.refin else "big"
    for length in [5] * 10 + [8] * 10:
        data = draw.bytes(length)
        lines.append((data + crc(data, named).to_bytes(size, order)).hex())
    fit = find_crc(read_fields(lines).equations(f"frame[-{size}:-1]"))
    assert name in fit.names
    function = compiled(emit_checksum(fit, "c", "check"), "check", tmp_path)
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    python = in_python(emit_checksum(fit, "python", "check"), "check")
    for line in lines:
        data = bytes.fromhex(line)
        value = int.from_bytes(data[-size:], "big")
        assert function(data[:-size], len(data) - size) == python(data[:-size]) == value


def test_few_frames_of_a_crc_give_code_and_no_matrix():
    """Twenty frames leave a matrix of 24 inputs open; the CRC that they name is settled."""
    named, draw = NAMED["CRC-8/SMBUS"], np.random.default_rng(3)
    lines = [(d + bytes([crc(d, named)])).hex() for d in (draw.bytes(3) for _ in range(20))]
    finding = hunt(read_fields(lines), "frame[-1]")
    assert finding.matrix is not None
    assert finding.usable_matrix is None
    code = in_python(code_of(finding, "python"), "frame_1")
    assert all(code(data) == crc(data, named) for data in (draw.bytes(3) for _ in range(20)))


@needs_compiler
def test_every_sum_in_c_and_python(tmp_path):
    draw = np.random.default_rng(4)
    data = [draw.bytes(int(length)) for length in draw.choice([4, 8, 12], 20)]
    widths = {"xor-bytes": 8, "xor-nibbles": 4, "sum-255": 8, "fletcher-8": 8}
    widths |= {"fletcher-32": 32, "adler-32": 32}
    widths |= dict.fromkeys(("luhn", "gtin", "isbn-10"), 8)
    for key, family in FAMILIES.items():
        width = widths.get(key, 16)
        little = width == 16
        fit = SumFit(key, width, 5, Conventions(little=little), 1, 1)
        name = "check_" + key.replace("-", "_")
        function = compiled(emit_checksum(fit, "c", name), name, tmp_path)
        function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        python = in_python(emit_checksum(fit, "python", name), name)
        for each in data if not family.digits else [bytes(b % 10 for b in each) for each in data]:
            (value,) = value_of(key, np.frombuffer(each, np.uint8)[None], width).tolist()
            value = (value ^ 5 if family.joint == "xor" else value + 5) & ((1 << width) - 1)
            if little:
                value = int.from_bytes(value.to_bytes(width // 8, "big"), "little")
            assert function(each, len(each)) == python(each) == value, key


def test_what_no_code_is_made_for():
    wide = XorMatrix(("y",), ("a[64]",), np.ones((1, 1), np.uint8), np.zeros(1))
    with pytest.raises(ValueError, match="up to 64 bits"):
        emit(wide, "c", "f")
