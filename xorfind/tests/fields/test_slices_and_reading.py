"""Names of bits, and frames and fields as people keep them."""

import gzip

import numpy as np
import pytest

from xorfind.fields.cells import frame_of
from xorfind.fields.reading import read_fields
from xorfind.fields.slices import parse

FRAMES = {"frame": ["01 02 03 00", "04 05 06 ff"]}
WHOLE = {"addr": ["0x10", "0x3"], "b": ["5", "6"]}


@pytest.mark.parametrize(
    ("columns", "text", "bytewise", "values"),
    [
        (FRAMES, "frame[1:2]", False, ["0000001000000011", "0000010100000110"]),
        (FRAMES, "frame[2:1]", False, ["0000001100000010", "0000011000000101"]),
        (FRAMES, "frame[3].7:4", True, ["0000", "1111"]),
        (WHOLE, "addr[4:0]", False, ["10000", "00011"]),
        (WHOLE, "addr[0:4]", False, ["00001", "11000"]),
        (WHOLE, "addr^b[2:0]", False, ["101", "101"]),
        (WHOLE, "addr[9]", False, ["0", "0"]),  # above the widest value
        (WHOLE, "b", False, ["101", "110"]),
        (WHOLE, "b", True, ["00000101", "00000110"]),
    ],
)
def test_bits_in_the_order_written(columns, text, bytewise, values):
    slices = parse(text, list(columns))
    (part,) = read_fields(columns).parts(slices)
    bits = part.taken(part.bits(slices, bytewise))
    assert ["".join(map(str, row)) for row in bits.tolist()] == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere[3]", "no column 'nowhere'"),
        ("addr[3", "not a slice"),
        ("addr[3].9", "not a slice"),
        ("addr[999999999:0]", "not a slice"),
        ("frame[2]", "outside a frame of 2 bytes"),
        ("addr[-1]", "--hex says so"),
        ("addr[1].2", "is an integer"),
    ],
)
def test_bad_slices(text, message):
    fields = read_fields({"addr": ["1", "2"], "frame": ["01 02", "03 04"]})
    with pytest.raises(ValueError, match=message):
        fields.equations(text)


@pytest.mark.parametrize(
    ("line", "data", "width"),
    [
        ("0a0B0c", b"\x0a\x0b\x0c", 24),
        ("0a 0b:0c-0d", b"\x0a\x0b\x0c\x0d", 32),
        ("0x0a 0x0b", b"\x0a\x0b", 16),
        ("{12}abc", b"\xab\xc0", 12),
        ("{36}8f1a2b3c40", b"\x8f\x1a\x2b\x3c\x40", 36),
        ("0a0b # comment", b"\x0a\x0b", 16),
        ("0a0b // comment", b"\x0a\x0b", 16),
    ],
)
def test_frames(line, data, width):
    assert frame_of(line, "line 1") == (data, width)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0a0", "line 7: '0a0' has 3 hex digits; a frame needs an even number"),
        ("0a0g", "line 7: 'g' is not a hex digit"),
        ("{99}ab", "says 99 bits, but 2 hex digits follow"),
    ],
)
def test_bad_frames(line, message):
    with pytest.raises(ValueError, match=message):
        frame_of(line, "line 7")


def test_rows_of_equal_lengths_are_parts():
    fields = read_fields(["0102", "# nothing", "", "010203", "0304"])
    parts = fields.parts(parse("frame", fields.names))
    assert [(part.length, part.lines.tolist()) for part in parts] == [
        ("2 bytes", [1, 5]),
        ("3 bytes", [4]),
    ]
    assert fields.columns["frame"].reading == "frames of 2 to 3 bytes"


def column(cells, **options):
    fields = read_fields({"x": cells}, **options)
    fields.parts(parse("x", ["x"]))
    return fields.columns["x"]


@pytest.mark.parametrize(
    ("cells", "values", "reading"),
    [
        (["10", "200"], [10, 200], "decimal"),
        (["1f", "20"], [31, 32], "hexadecimal"),
        (["0x1f", "32"], [31, 32], "whole numbers"),
        (["0101", "0110"], [5, 6], "binary"),
        (["18446744073709551616", "1"], [2**64, 1], "decimal, 65 bits"),
        (np.array([3.0, 7.0]), [3, 7], "whole numbers, 3 bits"),
    ],
)
def test_spellings_of_integers(cells, values, reading):
    read = column(cells)
    assert read.reading.startswith(reading)
    assert [int.from_bytes(row.tobytes(), "big") for row in read.data] == values


def test_digits_that_are_hex_on_request():
    assert column(["10", "11", "20"], hex_columns=["x"]).data.ravel().tolist() == [16, 17, 32]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "-2"], "row 2 holds '-2'; expected whole numbers"),
        (["1", ""], "row 2 holds ''"),
        (["0x1f", "ab"], "all like 1f or all like 0x1f"),
        (np.array([1.0, 2.0**60]), "as integers or text beyond"),
        (np.array([3, -1]), "holds -1; expected whole numbers from 0"),
    ],
)
def test_bad_integers(cells, message):
    with pytest.raises(ValueError, match=message):
        column(cells)


def test_files_tell_frames_from_tables(tmp_path):
    frames, packed, table = (tmp_path / name for name in ("f.txt", "f.gz", "t.csv"))
    frames.write_text("# capture\n\n01 02 03\n04 05 06\n")
    packed.write_bytes(gzip.compress(b"010203\n040506\n"))
    table.write_text("addr,bank,note\n0x10,1,x\n0x20,2,y\n")
    assert read_fields(frames).rows == read_fields(packed).rows == 2
    fields = read_fields(table)
    assert fields.equations("bank", ["addr"])[0].rows == 2
    with pytest.raises(ValueError, match="column 'note', row 1 holds 'x'"):
        fields.equations("bank")
    with pytest.raises(ValueError, match="cannot read"):
        read_fields(tmp_path / "none.txt")


def test_names_that_look_like_hex_before_semicolons_are_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("c0;c1\n1;0\n0;1\n")
    assert read_fields(path).names == ("c0", "c1")
    path.write_text("c0 ; a comment\nc1 ; another\n")
    assert read_fields(path).names == ("frame",)
