"""The XOR matrix: solved, saved, applied; what is open and what settles it."""

import json
from pathlib import Path

import numpy as np
import pytest

from xorfind.fields import Outcome, XorMatrix, hunt, read_fields
from xorfind.fields.equations import affine_fit
from xorfind.fields.hunt import consensus


def test_what_is_open_and_the_flips_that_settle_it():
    draw = np.random.default_rng(4)
    solution = draw.integers(0, 2, (3, 13)).astype(np.uint8)
    bits = draw.integers(0, 2, (60, 12)).astype(np.uint8)
    bits[:, 5], bits[:, 7] = 1, bits[:, 2]

    def target_of(rows):
        return ((rows @ solution[:, :-1].T) & 1).astype(np.uint8) ^ solution[:, -1]

    def texts(rows):
        return ["".join(map(str, row)) for row in rows.tolist()]

    finding = hunt(read_fields({"x": texts(bits), "y": texts(target_of(bits))}), "y", ["x[11:0]"])
    assert finding.outcome == Outcome.LINEAR
    assert len(finding.fit.free) == 2
    flipped = bits[[finding.flips[0].line - 1] * 2].copy()
    for row, flip in zip(flipped, finding.flips, strict=True):
        row[finding.system.inputs.index(flip.bit)] ^= 1
    more = np.concatenate([bits, flipped])
    assert (affine_fit(more, target_of(more)).solutions == solution).all()


def test_hex_digits_of_one_length_are_bytes_where_slices_say_so(tmp_path):
    draw = np.random.default_rng(0)
    rows = [bytes([a, b, (a ^ b << 1) & 255 ^ 5]).hex() for a, b in draw.integers(0, 256, (60, 2))]
    found = hunt(read_fields({"id": ["1a3"] * 60, "data": rows}), "data[-1]", ["data[0:1]"])
    assert found.matrix.formula(7) == "data[-1].0 = data[0].0 ^ 1"
    again = XorMatrix.load(found.matrix.save(tmp_path / "m.json"))
    assert again.on_rows({"data": rows}).right.all()
    with pytest.raises(ValueError, match="--hex says so"):
        hunt(read_fields({"data": ["0101", "0203"]}), "data[-1]")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"xorfind": "rule"}, "expected an object"),
        ({"version": 9}, "version.* cannot be 9"),
        ({"outputs": [{"name": "b", "xor_of": ["z"], "constant": 0}]}, "not an input"),
        ({"outputs": [{"name": "b", "xor_of": [], "constant": 2}]}, "constant.* cannot be 2"),
        ({"reading": []}, "reading.* cannot be"),
    ],
)
def test_bad_matrix_files(tmp_path, change, message):
    outputs = [{"name": "b", "xor_of": ["a[1]"], "constant": 1}]
    data = {"xorfind": "xor", "version": 1, "inputs": ["a[1]"], "outputs": outputs, **change}
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        XorMatrix.load(tmp_path / "m.json")


OLD = Path(__file__).parents[1] / "fixtures" / "0.3.0"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.matrix.json")), ids=lambda path: path.name)
def test_matrices_of_earlier_versions_open_and_apply(path, tmp_path):
    matrix, name = XorMatrix.load(path), path.name.removesuffix(".matrix.json")
    assert XorMatrix.load(matrix.save(tmp_path / "m.json")).to_json() == matrix.to_json()
    if name == "by-hand":
        assert matrix.formula(1) == "b1 = addr[15] ^ addr[19] ^ 1"
        return
    known = json.loads((OLD / f"{name}.expected.json").read_text())
    assert [matrix.formula(at) for at in range(len(matrix.outputs))] == known["formulas"]
    made = matrix.on_rows(OLD / f"{name}.txt")
    assert made.values.tolist() == known["values"]
    assert made.right.tolist() == known["right"]


def test_targets_do_not_explain_each_other():
    draw = np.random.default_rng(5)
    x = draw.integers(0, 256, 80)
    table = read_fields({"x": x, "y": x ^ 0x55, "z": x ^ 0x33})
    finding = hunt(table, "y", ignore=["z"])
    assert all(name.startswith("x[") for name in finding.system.inputs)
    asked = hunt(table, "y", ["z"])
    assert asked.outcome == Outcome.NAMED or asked.shape


def test_sparse_maps_under_strong_noise_go_to_the_solvers():
    draw = np.random.default_rng(0)
    bits = draw.integers(0, 2, (1500, 30)).astype(np.uint8)
    target = np.stack([bits[:, 3] ^ bits[:, 7], bits[:, 1] ^ bits[:, 9] ^ 1], axis=1)
    target ^= draw.random(target.shape) < 0.25
    found = consensus(bits, target, np.ones(2, bool), budget=60.0)
    assert {bit: (*each.subset, each.sign) for bit, each in found.items()} == {
        0: (3, 7, 1),
        1: (1, 9, -1),
    }
