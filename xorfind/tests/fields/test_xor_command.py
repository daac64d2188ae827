"""`xorfind bits` and `apply`: the examples, every block of the how-to pages, and bad input."""

import io
import json
import random
import re
import runpy
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from xorfind.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("checksums.md", "dram.md")]
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "xor_hunters.py"))


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


@pytest.fixture
def data(elsewhere):
    EXAMPLE["write"](elsewhere / "data")
    return elsewhere / "data"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_the_how_to_pages(page, capsys, data):
    blocks = re.findall(r"```sh\n(xorfind .*?)\n```\n\n```\w+\n(.*?)```", page.read_text(), re.S)
    assert len(blocks) >= 4
    for command, shown in blocks:
        code, out, err = run(capsys, *shlex.split(command.replace("\\\n", " "))[1:])
        assert code in (0, 3), (command, err)
        assert out.strip() == shown.strip(), command


def test_every_block_of_the_readme(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```sh\n(xorfind .*?)\n```\n\n```text\n(.*?)```", text, re.S)
    assert {command.split()[1] for command, _ in blocks} == {"table", "bits"}
    for command, shown in blocks:
        code, out, _ = run(capsys, *shlex.split(command)[1:])
        assert code == 0
        assert without_seconds(out) == without_seconds(shown), command
    ((python, shown),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S)
    exec(python, {})
    assert capsys.readouterr().out == shown


def without_seconds(text):
    return re.sub(r"; [\d.]+ s$", "", text.strip(), flags=re.M)


def test_save_apply_and_json(capsys, data):
    save = ["--save", "m.json", "--json", "all.json"]
    code, out, _ = run(capsys, "bits", "data/banks.csv", "--target", "bank", *save)
    assert code == 0
    assert "bank[3] = addr[20] ^ addr[16]" in out
    (finding,) = json.loads(Path("all.json").read_text())["findings"]
    assert finding["outcome"] == "noisy"
    assert finding["matrix"]["rank"] == 4
    code, out, _ = run(capsys, "apply", "m.json", "data/banks.csv", "--out", "p.csv")
    assert code == 0
    assert "400 rows, as predicted in 9" in out
    first = Path("data/banks.csv").read_text().splitlines()[1].split(",")
    expected = EXAMPLE["bank_of"](int(first[0], 16))
    assert Path("p.csv").read_text().splitlines()[1] == f"2,0x{expected:x}"


def test_an_offset_that_no_xor_describes(capsys, elsewhere):
    draw, lines, bank = random.Random(1), ["a,b,cycles"], EXAMPLE["bank_of"]
    for _ in range(4000):
        a, b = draw.getrandbits(33) & ~63, draw.getrandbits(33) & ~63
        cycles = draw.gauss(290 if bank(a + 0x70000) == bank(b + 0x70000) else 220, 10)
        lines.append(f"{a:#x},{b:#x},{cycles:.0f}")
    write("pairs.csv", "\n".join(lines) + "\n")
    pairs = ["--slow", "cycles", "--bits", "a^b[32:6]", "--budget", "5"]
    code, out, _ = run(capsys, "bits", "pairs.csv", *pairs)
    assert code == 3
    assert "functions are missing: of the pairs that agree in these" in out


def test_no_code_for_xors_of_frames_of_two_lengths(capsys, data):
    asked = ["data/pump.txt", "--target", "frame[-1]", "--emit", "c", "--save", "m.json"]
    code, out, err = run(capsys, "bits", *asked)
    assert (code, out) == (2, "")
    assert "frames of one length in a file of their own" in err
    assert not Path("m.json").exists()


def write(name, text):
    Path(name).write_text(text)
    return name


ONE = "--target frame[-1]"
PAIRS = "a,b,t\n1,2,5\n3,4,5\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("0a0b0c\n0a0\n", ONE, "line 2: '0a0' has 3 hex digits"),
        ("0a0b0c0d\n0a\n", "--target frame[2]", "lies outside a frame of 1 bytes"),
        ("0a\n0b\n", ONE, "no input bits are left"),
        ("a,b\n1,2\n3\n", "--target b", "line 3: 1 cell, the line of names has 2"),
        ("# nothing\n", ONE, ""),
        ("0a0b\n0c0d\n", "", "one of the arguments --target --same --slow is required"),
        ("0a0b\n0c0d\n", f"{ONE} --same x", "not allowed with argument --target"),
        (PAIRS, "--slow t --bits a^b", "all timings are equal"),
        (PAIRS, "--slow t", "--slow needs --bits"),
        (PAIRS, "--target b --budget 0", "--budget must be"),
        (PAIRS, "--target b --hex x", "--hex: no column 'x'"),
        (PAIRS, "--target b --target a --save m.json", "--save writes one matrix"),
    ],
)
def test_bad_input_is_one_line(capsys, elsewhere, text, options, message):
    write("f.txt", text)
    code, out, err = run(capsys, "bits", "f.txt", *options.split())
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert message in err


def test_standard_input_and_what_is_left_out(capsys, elsewhere, monkeypatch):
    draw = np.random.default_rng(0)
    rows = [(int(a), int(b), int(a) ^ 5) for a, b in draw.integers(0, 256, (60, 2))]
    text = "a,noise,y\n" + "\n".join(f"{a},{b},{y}" for a, b, y in rows) + "\n"
    for data in (text, "\n".join(f"{a:02x}{b:02x}{y:02x}" for a, b, y in rows)):
        stdin = SimpleNamespace(buffer=io.BytesIO(data.encode()))
        monkeypatch.setattr(sys, "stdin", stdin)
        framed = "," not in data
        target, left_out = ("frame[-1]", "frame[1]") if framed else ("y", "noise")
        code, out, _ = run(capsys, "bits", "-", "--target", target, "--ignore", left_out)
        assert code == 0
        assert "input bits XOR a fixed key" in out


def test_equal_frames_with_different_checks_are_named(capsys, elsewhere):
    draw = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        data = draw.bytes(4)
        lines.append((data + bytes([sum(data) & 255])).hex())
    lines.append(lines[3][:-2] + f"{int(lines[3][-2:], 16) ^ 1:02x}")
    write("f.txt", "\n".join(lines) + "\n")
    code, out, _ = run(capsys, "bits", "f.txt", "--target", "frame[-1]")
    assert code == 0
    assert "lines 4 and 61 have the same inputs and different values" in out
    assert "sum of all bytes modulo 2^8" in out
    assert "lines that do not fit: 61" in out


@pytest.mark.slow
def test_a_million_frames(capsys, elsewhere):
    draw = np.random.default_rng(0)
    data = draw.integers(0, 256, (1_000_000, 8)).astype(np.uint8)
    data[:, 7] = np.bitwise_xor.reduce(data[:, :7] << 1 | data[:, :7] >> 7, axis=1) ^ 0x5A
    text = data.tobytes().hex()
    write("f.txt", "\n".join(text[at : at + 16] for at in range(0, len(text), 16)) + "\n")
    code, out, _ = run(capsys, "bits", "f.txt", "--target", "frame[-1]")
    assert code == 0
    assert "1,000,000 rows" in out
