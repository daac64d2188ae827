"""Names of bits, and frames and fields as people keep them."""

import gzip

import numpy as np
import pytest

from xorfind.fields.cells import frame_of
from xorfind.fields.reading import read_fields
from xorfind.fields.slices import Shape, parse


def labels(text, shape):
    (one,) = parse(text, ["addr", "frame"])
    return [bit.label() for bit in one.within(shape)]


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ("addr[17]", Shape(False, 20), ["addr[17]"]),
        ("addr[8:6]", Shape(False, 20), ["addr[8]", "addr[7]", "addr[6]"]),
        ("addr[6:8]", Shape(False, 20), ["addr[6]", "addr[7]", "addr[8]"]),
        ("frame[3].7", Shape(True, 40), ["frame[3].7"]),
        ("frame[-1].1:0", Shape(True, 40), ["frame[4].1", "frame[4].0"]),
        ("frame[1].0:1", Shape(True, 12), []),
        ("addr", Shape(False, 2), ["addr[1]", "addr[0]"]),
    ],
)
def test_slices(text, shape, expected):
    assert labels(text, shape) == expected


def test_order_of_bytes_is_the_order_written():
    table = read_fields(["010203", "040506"])
    (batch,) = table.parts
    big = batch.taken(batch.bits(parse("frame[1:2]", table.names)))
    little = batch.taken(batch.bits(parse("frame[2:1]", table.names)))
    assert np.packbits(big[0]).tolist() == [2, 3]
    assert np.packbits(little[0]).tolist() == [3, 2]


def test_an_integer_and_its_bits():
    table = read_fields({"addr": ["0x1_0".replace("_", ""), "0x3"], "b": ["5", "6"]})
    (batch,) = table.parts
    bits = batch.bits(parse("addr[4:0]", table.names))
    assert batch.taken(bits).tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 1, 1]]
    both = batch.taken(batch.bits(parse("addr^b[2:0]", table.names)))
    assert both.tolist() == [[1, 0, 1], [1, 0, 1]]
    beyond = batch.taken(batch.bits(parse("addr[9]", table.names)))
    assert not beyond.any()


def test_bytewise_integers_have_whole_bytes():
    table = read_fields({"x": ["3", "5"]})
    (batch,) = table.parts
    assert len(batch.bits(parse("x", table.names))) == 3
    assert len(batch.bits(parse("x", table.names), bytewise=True)) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere[3]", "no column 'nowhere'"),
        ("addr[3", "no slice"),
        ("addr[3].9", "bits of a byte"),
        ("a^b^c", "no column 'a'"),
        ("addr[999999999:0]", "more than"),
    ],
)
def test_bad_slices(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text, ["addr"])


def test_slices_outside_what_they_cut():
    with pytest.raises(ValueError, match="outside a frame of 2 bytes"):
        labels("frame[2]", Shape(True, 16))
    with pytest.raises(ValueError, match="numbered from 0"):
        labels("addr[-1]", Shape(False, 16))
    with pytest.raises(ValueError, match="is an integer"):
        labels("addr[1].2", Shape(False, 16))


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
        ("0a0b ; comment", b"\x0a\x0b", 16),
    ],
)
def test_frames(line, data, width):
    frame = frame_of(line, 1)
    assert (frame.data, frame.width) == (data, width)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0a0", "line 7: '0a0' has 3 hex digits; a frame needs an even number"),
        ("0a0g", "line 7: 'g' is no hex digit"),
        ("{99}ab", "says 99 bits, but 2 hex digits follow"),
        ("{0}ab", "a frame has 1 to"),
    ],
)
def test_bad_frames(line, message):
    with pytest.raises(ValueError, match=message):
        frame_of(line, 7)


def test_mixed_lengths_are_batches():
    table = read_fields(["0102", "# nothing", "", "010203", "0304"])
    assert [batch.rows for batch in table.parts] == [2, 1]
    assert [batch.lines.tolist() for batch in table.parts] == [[1, 5], [4]]
    assert table.lengths == "2 to 3 bytes"


@pytest.mark.parametrize(
    ("cells", "values", "reading"),
    [
        (["10", "200"], [10, 200], "decimal"),
        (["1f", "20"], [31, 32], "hexadecimal"),
        (["0x1f", "32"], [31, 32], "whole numbers"),
        (["0101", "0110"], [5, 6], "binary"),
        (["18446744073709551616", "1"], [2**64, 1], "decimal, 65 bits"),
    ],
)
def test_spellings_of_integers(cells, values, reading):
    table = read_fields({"x": cells})
    (batch,) = table.parts
    assert table.columns["x"].reading.startswith(reading)
    assert [int.from_bytes(row.tobytes(), "big") for row in batch.columns["x"].data] == values


def test_digits_that_are_hex_on_request():
    table = read_fields({"x": ["10", "11", "20"]}, hex_columns=["x"])
    assert table.columns["x"].data.ravel().tolist() == [16, 17, 32]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "-2"], "row 2 holds '-2'; expected whole numbers"),
        (["1", ""], "row 2 holds nothing"),
        (["1.5", "2"], "row 1 holds '1.5'"),
        (["9" * 500, "2"], "at most 1,024 bits"),
        (["0x" + "f" * 300, "2"], "a number of 1,200 bits; at most 1,024"),
        (["0x1f", "ab"], "mixes 0x numbers"),
        (np.array([1.0, 2.0**60]), "floats beyond"),
        (np.array([3, -1]), "expected 0 and up"),
    ],
)
def test_bad_integers(cells, message):
    with pytest.raises(ValueError, match=message):
        read_fields({"x": cells})


def test_files_tell_frames_from_tables(tmp_path):
    frames, packed, table = (tmp_path / name for name in ("f.txt", "f.gz", "t.csv"))
    frames.write_text("# capture\n\n01 02 03\n04 05 06\n")
    packed.write_bytes(gzip.compress(b"010203\n040506\n"))
    table.write_text("addr,bank,note\n0x10,1,x\n0x20,2,y\n")
    assert read_fields(frames).rows == read_fields(packed).rows == 2
    only = read_fields(table, lambda names: {"addr", "bank"})
    assert set(only.columns) == {"addr", "bank"}
    with pytest.raises(ValueError, match="column 'note', row 1 holds 'x'"):
        read_fields(table)
    with pytest.raises(ValueError, match="cannot read"):
        read_fields(tmp_path / "none.txt")


def test_names_that_look_like_hex_before_semicolons_are_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("c0;c1\n1;0\n0;1\n")
    assert read_fields(path).names == ("c0", "c1")
    path.write_text("c0 ; a comment\nc1 ; another\n")
    assert read_fields(path).names == ("frame",)
