"""A frozen set of tables and frames with recorded answers, to run before and after a change.

    python net/tables.py            compares with net/tables.json, exit code 1 where they differ
    python net/tables.py --record   writes net/tables.json anew; say why in the commit

Every table is made from its seed here and nowhere else, so that an answer can only change because
the code that answers has changed. Records hold what a user sees: the set of columns, its sign, the
conclusion, counts, p-values to six digits, sentences; no seconds. The few lines of `Adapter` are
all that knows where the code lives.
"""

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).with_suffix(".json")
Bits = np.ndarray
Make = Callable[[], dict[str, Any]]
CASES: dict[str, Make] = {}


class Adapter:
    """Where the code under test lives."""

    def __init__(self) -> None:
        import xorfind as home
        from xorfind import fields as bits
        from xorfind.fields import text, timings

        self.lines_of, self.threshold = text.lines_of, timings.threshold
        self.solve, self.discover = home.solve, home.discover
        self.classifier = home.ParityClassifier
        self.read, self.hunt = bits.read_fields, bits.hunt
        self.sets, self.shared = bits.set_differences, bits.shared_functions


USE = Adapter()


def digits(value: float) -> float:
    """Six digits: the same on every processor."""
    return value if not math.isfinite(value) or value == 0 else float(f"{value:.6g}")


def case(name: str, run: Make) -> None:
    assert name not in CASES, name
    CASES[name] = run


# One label: `solve`.


def solved(bits: Bits, truth: Bits, **options: Any) -> dict[str, Any]:
    """What `solve` says of bits (N, n) and labels 0/1 (N,)."""
    answer = USE.solve(bits, 1 - 2 * np.asarray(truth, np.int8), **options)
    return {
        "subset": answer.subset,
        "sign": answer.sign,
        "conclusion": str(answer.conclusion),
        "fitting": [answer.best.fitting, answer.rows],
        "p_value": digits(answer.p_value),
        "equivalents": answer.equivalents[:20],
        "near": answer.near,
        "used": [answer.used.used, answer.used.total],
        "complete": answer.complete,
        "rows_needed": answer.rows_needed,
        "words": str(answer),
    }


def parity(seed: int, rows: int, n: int, k: int, noise: float, bias: float = 0.5) -> Any:
    draw = np.random.default_rng([seed, rows, n, k])
    bits = (draw.random((rows, n)) < bias).astype(np.uint8)
    subset = np.sort(draw.choice(n, k, replace=False))
    odd = bits[:, subset].sum(axis=1) % 2
    return bits, (odd ^ (draw.random(rows) < noise)).astype(np.uint8)


def plain_parity(seed: int, rows: int, n: int, k: int, noise: float, **more: Any) -> None:
    bias = more.pop("bias", 0.5)
    told = "".join(f", {key}={value}" for key, value in more.items())
    name = f"solve: {rows} rows, {n} columns, k {k}, noise {noise:g}, share {bias:g}{told}"
    case(name, lambda: solved(*parity(seed, rows, n, k, noise, bias), **more))


SHAPES = [
    (80, 20, 3, 0.0),
    (300, 30, 3, 0.2),
    (400, 60, 2, 0.3),
    (60, 200, 2, 0.0),
    (40, 60, 5, 0.0),
    (500, 16, 8, 0.1),
    (100, 22, 4, 0.05),
    (200, 100, 50, 0.0),
    (300, 100, 1, 0.3),
]
for at, shape in enumerate(SHAPES):
    plain_parity(at, *shape)
for at, method in enumerate(["elimination", "walsh", "meeting", "restarts", "correlation"]):
    rows = 24 if method in ("meeting", "restarts") else 120
    case(
        f"solve: by {method}",
        lambda at=at, method=method, rows=rows: solved(
            *parity(30 + at, rows, 18, 3, 0.0), method=method
        ),
    )
plain_parity(40, 400, 20, 3, 0.1, bias=0.2)
plain_parity(41, 400, 20, 2, 0.1, bias=0.9)
plain_parity(42, 50, 18, 3, 0.3)
plain_parity(43, 200, 24, 3, 0.1, alpha=1e-9)


# Rows that depend on each other, with a parity of columns 1 and 4 and without.

COLUMNS, ROWS, NOISE, STAY, SLOW, FAMILY = 12, 100, 0.1, 0.95, 19, 4


def labels_of(draw: Any, bits: Bits, planted: bool) -> Bits:
    if not planted:
        return draw.integers(0, 2, len(bits)).astype(np.uint8)
    return (bits[:, (1, 4)].sum(axis=1) % 2 ^ (draw.random(len(bits)) < NOISE)).astype(np.uint8)


def fair(draw: Any, planted: bool) -> Any:
    bits = draw.integers(0, 2, (ROWS, COLUMNS)).astype(np.uint8)
    return bits, labels_of(draw, bits, planted)


def repeated(draw: Any, planted: bool, least: int, most: int) -> Any:
    bits, truth = fair(draw, planted)
    times = draw.integers(least, most + 1, ROWS)
    at = draw.permutation(np.repeat(np.arange(ROWS), times))
    return bits[at], truth[at]


def oversampled(draw: Any, planted: bool) -> Any:
    bits, truth = fair(draw, planted)
    rare = np.flatnonzero(truth == (truth.mean() < 0.5))
    at = np.concatenate([np.arange(ROWS), draw.choice(rare, 2 * len(rare))])
    return bits[at], truth[at]


def walk(draw: Any, rows: int, columns: int) -> Bits:
    turns = draw.random((rows, columns)) > STAY
    turns[0] = draw.random(columns) < 0.5
    return (np.cumsum(turns, axis=0) % 2).astype(np.uint8)


def slow(draw: Any, planted: bool, clock: bool) -> Any:
    bits = walk(draw, ROWS * SLOW, COLUMNS)
    truth = labels_of(draw, bits, True) if planted else walk(draw, len(bits), 1)[:, 0]
    time_ = (np.arange(len(bits)) > len(bits) // 2).astype(np.uint8)
    return (np.concatenate([bits, time_[:, None]], axis=1) if clock else bits), truth


def sorted_with_id(draw: Any, planted: bool) -> Any:
    bits, truth = fair(draw, planted)
    order = np.arange(ROWS) if planted else np.argsort(truth, kind="stable")
    count = (np.arange(ROWS) > ROWS // 2).astype(np.uint8)
    return np.concatenate([bits[order], count[:, None]], axis=1), truth[order]


def families(draw: Any, planted: bool, shuffled: bool) -> Any:
    parents, of = fair(draw, False)[0], np.repeat(np.arange(ROWS), FAMILY)
    bits = (parents[of] ^ (draw.random((len(of), COLUMNS)) < 0.05)).astype(np.uint8)
    own = (draw.random(ROWS) < NOISE)[of] if planted else labels_of(draw, parents, False)[of]
    truth = (bits[:, (1, 4)].sum(axis=1) % 2 ^ own) if planted else own
    order = draw.permutation(len(of)) if shuffled else np.arange(len(of))
    return bits[order], truth[order].astype(np.uint8)


KINDS: dict[str, Callable[[Any, bool], Any]] = {
    "independent": fair,
    "copies 2": lambda draw, planted: repeated(draw, planted, 2, 2),
    "copies 3": lambda draw, planted: repeated(draw, planted, 3, 3),
    "copies 5": lambda draw, planted: repeated(draw, planted, 5, 5),
    "copies 1 to 5": lambda draw, planted: repeated(draw, planted, 1, 5),
    "oversampled": oversampled,
    "slow": lambda draw, planted: slow(draw, planted, False),
    "slow, time column": lambda draw, planted: slow(draw, planted, True),
    "sorted, id column": sorted_with_id,
    "families in order": lambda draw, planted: families(draw, planted, False),
    "families shuffled": lambda draw, planted: families(draw, planted, True),
}
for number, (kind, make) in enumerate(KINDS.items()):
    for planted in (False, True):

        def run(number: int = number, make: Any = make, planted: bool = planted) -> dict[str, Any]:
            table = make(np.random.default_rng([number, planted]), planted)
            return solved(*table, rows="check", alpha=0.05)

        case(f"rows: {kind}, {'parity' if planted else 'nothing'}", run)


# Functions that one parity explains, and functions that it does not.


def functions() -> dict[str, tuple[Bits, Bits]]:
    draw = np.random.default_rng(7)
    x, luck = draw.integers(0, 2, (1000, 12)).astype(np.uint8), draw.random(1000)
    odd, bent = x[:, 1] ^ x[:, 4], (x[:, 0] & x[:, 1]) ^ (x[:, 2] & x[:, 3])
    chance = 1 / (1 + np.exp(-(x - 0.5) @ np.linspace(2, 0.2, 12)))
    made = {
        "rare, 12 % odd, 2 % even": luck < np.where(odd, 0.12, 0.02),
        "uneven noise": luck < np.where(odd, 0.95, 0.3),
        "or of two xors": (x[:, 0] ^ x[:, 1]) | (x[:, 2] ^ x[:, 3]),
        "xor with an and": x[:, 0] ^ (x[:, 1] & x[:, 2] & x[:, 3]),
        "bent": bent,
        "logistic": luck < chance,
        "multiplexer": x[np.arange(1000), 2 + 2 * x[:, 0] + x[:, 1]],
        "noise by a column": x[:, 0] ^ x[:, 1] ^ (luck < np.where(x[:, 5], 0.3, 0.02)),
        "majority": x[:, :5].sum(axis=1) > 2,
        "threshold of nine": x[:, :9].sum(axis=1) > 6,
    }
    return {name: (x, np.asarray(truth, np.uint8)) for name, truth in made.items()}


for name in functions():
    case(f"function: {name}", lambda name=name: solved(*functions()[name], rows="check"))


# Tables with names: `discover`.


def discovered(columns: Any, target: Any, **options: Any) -> dict[str, Any]:
    rule = USE.discover(columns, target, **options)
    answer = rule.answer
    words = [line for line in str(rule).splitlines() if not line.startswith("  searched:")]
    return {
        "columns": rule.columns,
        "odd": rule.odd,
        "conclusion": str(rule.conclusion),
        "statement": rule.statement,
        "fitting": [answer.best.fitting, answer.rows],
        "p_value": digits(answer.p_value),
        "alternatives": [] if answer.subset is None else answer.equivalents,
        "words": words,
    }


def people(rows: int = 400) -> dict[str, list[Any]]:
    draw = np.random.default_rng(11)
    smoker, insured = draw.integers(0, 2, (2, rows))
    age, floor = draw.integers(18, 90, rows), draw.integers(0, 20, rows)
    odd = (smoker ^ (age > 54)) ^ (draw.random(rows) < 0.04)
    return {
        "smoker": ["yes" if each else "no" for each in smoker],
        "insured": ["True" if each else "False" for each in insured],
        "age": age.tolist(),
        "floor": floor.tolist(),
        "city": [["Bonn", "Ulm", "Köln"][each % 3] for each in floor],
        "sex": ["female" if each % 2 else "male" for each in age * 7 + floor],
        "renews": ["+" if each else "-" for each in odd],
    }


def twins() -> dict[str, Any]:
    bits, truth = parity(50, 200, 6, 2, 0.0)
    columns = {f"c{at}": column for at, column in enumerate(bits.T)}
    odd = np.flatnonzero([np.corrcoef(column, truth)[0, 1] > 2 for column in bits.T])
    assert not len(odd)
    more = {f"copy{at}": bits[:, at] for at in range(3)}
    more |= {f"not{at}": 1 - bits[:, at] for at in range(3, 6)}
    return {**columns, **more, "same": np.ones(200, int), "y": truth}


def numbers(seed: int) -> dict[str, Any]:
    draw = np.random.default_rng([60, seed])
    address = draw.integers(0, 2**24, 300)
    return {"address": address, "y": (address >> 3 ^ address >> 9 ^ address >> 17) & 1}


def genotypes(seed: int) -> dict[str, Any]:
    draw = np.random.default_rng([61, seed])
    values = draw.integers(0, 3, (500, 6))
    truth = (values[:, 1] == values[:, 3]) ^ (draw.random(500) < 0.1)
    return {**{f"snp{at}": each for at, each in enumerate(values.T)}, "case": truth.astype(int)}


def holes() -> dict[str, Any]:
    table = people()
    table["age"] = ["" if at % 17 == 0 else str(each) for at, each in enumerate(table["age"])]
    return table


def grouped() -> dict[str, Any]:
    bits, truth = parity(62, 120, 8, 2, 0.1)
    at = np.repeat(np.arange(120), 3)
    columns = {f"c{j}": column for j, column in enumerate(bits[at].T)}
    return {"subject": at, **columns, "y": truth[at]}


for name, make, target, options in (
    ("people", people, "renews", {"threshold": {"age": 54}}),
    ("people at the median", people, "renews", {}),
    ("people, size two", people, "renews", {"k": 2, "threshold": "age=54"}),
    ("people, another target", people, "insured", {}),
    ("missing cells dropped", holes, "renews", {"missing": "drop", "threshold": "age=54"}),
    ("twins", twins, "y", {}),
    ("bits of numbers", lambda: numbers(0), "y", {"bits": "address:23-0"}),
    ("bits of numbers, too few", lambda: numbers(1), "y", {"bits": "address:8-0"}),
    ("genotypes", lambda: genotypes(0), "case", {}),
    ("groups named", grouped, "y", {"group": "subject"}),
    ("rows taken as independent", grouped, "y", {"rows": "independent"}),
):
    case(
        f"discover: {name}",
        lambda make=make, target=target, options=options: discovered(make(), target, **options),
    )
case("discover: array", lambda: discovered(*parity(63, 150, 9, 3, 0.05)))


# The estimator.


def classified(X: Any, y: Any, **options: Any) -> dict[str, Any]:
    model = USE.classifier(random_state=0, **options).fit(X, y)
    return {
        "subset": model.subset_.tolist(),
        "sign": model.sign_,
        "abstained": bool(model.abstained_),
        "confidence": digits(model.confidence_),
        "words": str(model.outcome_),
        "chances": [digits(each) for each in model.predict_proba(X)[:4, 1].tolist()],
    }


def measured() -> Any:
    draw = np.random.default_rng(70)
    X = draw.normal(size=(300, 6))
    return X, np.where((X[:, 1] > np.median(X[:, 1])) ^ (X[:, 4] > np.median(X[:, 4])), "b", "a")


case("estimator: bits", lambda: classified(*parity(71, 200, 10, 2, 0.1)))
case("estimator: numbers", lambda: classified(*measured()))
case("estimator: nothing", lambda: classified(measured()[0], parity(72, 300, 6, 2, 0.0)[1]))
case("estimator: k", lambda: classified(*parity(73, 200, 10, 3, 0.1), k=3))


# Fields and frames.


def hunted(source: Any, target: str, budget: float = 10.0, **options: Any) -> dict[str, Any]:
    table = USE.read(source)
    found = USE.hunt(table, target, budget=budget, **options)
    matrix = None if found.matrix is None else found.matrix.to_json()["outputs"]
    return {
        "outcome": found.outcome.name,
        "found": found.found,
        "matrix": None if matrix is None or found.system.lengths else matrix,
        "wrong": found.wrong[:40],
        "proof": found.proof,
        "clash": found.clash,
        "flips": [[flip.line, flip.bit] for flip in found.flips],
        "words": USE.lines_of(found),
    }


def crc_of(data: bytes, width: int, poly: int, init: int, reflected: int, xorout: int) -> int:
    """The definition, bit by bit."""
    register, mask = init, (1 << width) - 1
    for byte in data:
        for bit in range(8):
            fed = byte >> (bit if reflected else 7 - bit) & 1
            over = (register >> (width - 1) ^ fed) & 1
            register = (register << 1 & mask) ^ (poly if over else 0)
    if reflected:
        register = int(format(register, f"0{width}b")[::-1], 2)
    return register ^ xorout


CRCS = {
    "CRC-8/MAXIM-DOW": (8, 0x31, 0, 1, 0),
    "CRC-8/SAE-J1850": (8, 0x1D, 0xFF, 0, 0xFF),
    "CRC-16/MODBUS": (16, 0x8005, 0xFFFF, 1, 0),
    "CRC-16/IBM-3740": (16, 0x1021, 0xFFFF, 0, 0),
    "CRC-24/OPENPGP": (24, 0x864CFB, 0xB704CE, 0, 0),
    "CRC-32/ISO-HDLC": (32, 0x04C11DB7, 0xFFFFFFFF, 1, 0xFFFFFFFF),
    "a private CRC-12": (16, 0x3A4D, 0x1234, 0, 0x5678),
}


def crc_frames(
    name: str, rows: int, lengths: tuple[int, ...], order: Any = "big", wrong: int = 0
) -> list[str]:
    draw, how, lines = random.Random(f"{name} {rows} {lengths}"), CRCS[name], []
    for at in range(rows):
        data = draw.randbytes(draw.choice(lengths))
        check = crc_of(data, *how) ^ (draw.randrange(1, 256) if at < wrong else 0)
        lines.append((data + check.to_bytes(how[0] // 8, order)).hex())
    return lines


def field_of(name: str) -> str:
    return "frame[-1]" if CRCS[name][0] == 8 else f"frame[-{CRCS[name][0] // 8}:-1]"


for name in CRCS:
    case(
        f"bits: {name}, two lengths",
        lambda name=name: hunted(crc_frames(name, 24, (6, 9)), field_of(name)),
    )
for name, rows, lengths, order, wrong in (
    ("CRC-16/MODBUS", 40, (7,), "little", 0),
    ("CRC-16/MODBUS", 80, (7,), "big", 6),
    ("CRC-32/ISO-HDLC", 12, (5,), "big", 0),
    ("CRC-8/MAXIM-DOW", 200, (3,), "big", 0),
):
    told = f"{rows} rows, {order}-endian, {wrong} wrong"
    case(
        f"bits: {name}, {told}",
        lambda name=name, rows=rows, lengths=lengths, order=order, wrong=wrong: hunted(
            crc_frames(name, rows, lengths, order, wrong), field_of(name)
        ),
    )


def summed(check: Callable[[bytes], int], size: int, rows: int = 60, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    data = [draw.randbytes(draw.choice((6, 8))) for _ in range(rows)]
    return [(each + (check(each) % (1 << 8 * size)).to_bytes(size, "big")).hex() for each in data]


def words16(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def fletcher(data: bytes) -> int:
    first = second = 0
    for byte in data:
        first = (first + byte) % 255
        second = (second + first) % 255
    return second << 8 | first


def internet(data: bytes) -> int:
    total = sum(words16(data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def xored(data: bytes) -> int:
    made = 0
    for byte in data:
        made ^= byte
    return made


for name, check, size in (
    ("sum of bytes plus 0x55", lambda data: sum(data) + 0x55, 1),
    ("two's complement of the sum", lambda data: -sum(data), 1),
    ("xor of bytes", xored, 1),
    ("sum of words", lambda data: sum(words16(data)), 2),
    ("fletcher", fletcher, 2),
    ("internet", internet, 2),
):
    target = "frame[-1]" if size == 1 else "frame[-2:-1]"
    case(
        f"bits: {name}",
        lambda check=check, size=size, target=target: hunted(summed(check, size), target),
    )


def pump(mixed: bool, rows: int = 240) -> list[str]:
    draw, lines = random.Random(5), ["# bus capture"]
    for _ in range(rows):
        opcode = draw.choice([0x11, 0x15, 0x18, 0x1A] if mixed else [0x11, 0x15, 0x1A])
        data = bytes([0xF0, opcode]) + draw.randbytes(draw.choice([5, 7]))
        check = sum(data) & 255 if opcode == 0x18 else 0x5A
        for place, byte in enumerate(reversed(data) if opcode != 0x18 else b""):
            turn = 3 * place % 8
            check ^= (byte << turn | byte >> (8 - turn)) & 255
        lines.append((data + bytes([check])).hex(" "))
    return lines


def scrambled(rows: int = 200) -> dict[str, list[str]]:
    draw, state, key = random.Random(6), 93, 0
    for _ in range(128):
        bit = (state >> 6 ^ state >> 3) & 1
        state, key = (state << 1 | bit) & 127, key << 1 | bit
    plains = [draw.getrandbits(128) for _ in range(rows)]
    return {
        "plain": [f"{each:032x}" for each in plains],
        "sent": [f"{each ^ key:032x}" for each in plains],
    }


BANKS = ((7, 8, 9, 12, 13, 18, 19), (14, 18), (15, 19), (16, 20))


def bank_of(address: int) -> int:
    return sum(sum(address >> b for b in bits) % 2 << at for at, bits in enumerate(BANKS))


def banks(rows: int, noise: float, seed: int = 0) -> dict[str, list[str]]:
    draw = random.Random(seed)
    made = [draw.getrandbits(33) & ~63 for _ in range(rows)]
    own = [draw.randrange(16) if draw.random() < noise else bank_of(at) for at in made]
    return {"addr": [f"{at:#x}" for at in made], "bank": [str(each) for each in own]}


def registers(rows: int = 60) -> dict[str, list[str]]:
    draw = random.Random(8)
    states = [draw.getrandbits(16) for _ in range(rows)]
    steps = [each >> 1 ^ (0xB400 if each & 1 else 0) for each in states]
    return {"state": [f"0x{s:04x}" for s in states], "next": [f"0x{s:04x}" for s in steps]}


def hamming(rows: int = 60) -> dict[str, list[str]]:
    draw, made = random.Random(9), {"data": [], "check": []}
    masks = (0b10101011011, 0b11001101101, 0b11110001110, 0b11111110000)
    for _ in range(rows):
        data = draw.getrandbits(11)
        check = sum(((data & mask).bit_count() & 1) << at for at, mask in enumerate(masks))
        made["data"].append(str(data))
        made["check"].append(str(check))
    return made


def random_frames(rows: int = 200) -> list[str]:
    draw = random.Random(10)
    return [draw.randbytes(6).hex() for _ in range(rows)]


def raid(rows: int = 60) -> list[str]:
    draw, lines = random.Random(12), []
    for _ in range(rows):
        data, made = draw.randbytes(5), 0
        for byte in data:
            made = (made << 1 ^ (0x11D if made & 0x80 else 0)) & 0xFF ^ byte
        lines.append((data + bytes([made])).hex())
    return lines


case("bits: heat pump, two lengths", lambda: hunted(pump(False), "frame[-1]"))
case("bits: heat pump, one opcode a sum", lambda: hunted(pump(True), "frame[-1]", 3.0))
case("bits: additive scrambler", lambda: hunted(scrambled(), "sent"))
case("bits: banks, clean", lambda: hunted(banks(100, 0.0), "bank"))
case("bits: banks, 3 % wrong", lambda: hunted(banks(400, 0.03), "bank"))
case("bits: banks, 10 % wrong", lambda: hunted(banks(400, 0.1), "bank"))
case("bits: banks, too few rows", lambda: hunted(banks(20, 0.0), "bank"))
case("bits: one bank bit by a slice", lambda: hunted(banks(100, 0.0), "bank[0]"))
case("bits: step of a Galois register", lambda: hunted(registers(), "next"))
case("bits: Hamming code", lambda: hunted(hamming(), "check"))
case("bits: RAID-6 parity", lambda: hunted(raid(), "frame[-1]"))
case("bits: nothing", lambda: hunted(random_frames(), "frame[-1]", 1.0))
case("bits: rtl_433 lengths", lambda: hunted(rtl(), "frame[4].7:4"))


def rtl(rows: int = 60) -> list[str]:
    draw, lines = random.Random(13), []
    for _ in range(rows):
        data = draw.getrandbits(32)
        check = 0
        for at in range(8):
            check ^= data >> 4 * at & 15
        lines.append(f"{{36}}{data:08x}{check:x}")
    return lines


def address_bits(texts: list[str]) -> Bits:
    values = np.array([int(text, 16) for text in texts], np.uint64)
    return np.stack([(values >> np.uint64(b) & np.uint64(1)) for b in range(32, 5, -1)], 1).astype(
        np.uint8
    )


NAMES = tuple(f"addr[{bit}]" for bit in range(32, 5, -1))


def shared(within: Bits, across: Bits) -> dict[str, Any]:
    found = USE.shared(NAMES, within, across, 5.0)
    return {
        "functions": [found.matrix.formula(at) for at in range(len(found.basis))],
        "fits": [digits(each) for each in found.fits.tolist()],
        "next": found.next_bit(),
    }


def sets(rows: int, noise: float) -> dict[str, Any]:
    table = banks(rows, noise, 3)
    return shared(*USE.sets(address_bits(table["addr"]), np.array(table["bank"], int)))


def timed(rows: int = 3000) -> dict[str, Any]:
    draw = random.Random(14)
    first, second = ([draw.getrandbits(33) & ~63 for _ in range(rows)] for _ in range(2))
    pairs = zip(first, second, strict=True)
    times = [draw.gauss(290 if bank_of(a) == bank_of(b) else 220, 10) for a, b in pairs]
    differences = address_bits([hex(a ^ b) for a, b in zip(first, second, strict=True)])
    cut, values = USE.threshold(np.array(times)), np.array(times)
    made = shared(differences[cut.slow(values)], differences[cut.fast(values)])
    return {"threshold": digits(cut.value), **made}


case("groups: sets, clean", lambda: sets(400, 0.0))
case("groups: sets, 5 % wrong", lambda: sets(800, 0.05))
case("groups: pairs with a latency", timed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    asked = parser.parse_args()
    known = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    made, different, slowest = dict[str, Any](), 0, (0.0, "")
    for name, run in CASES.items():
        if asked.only not in name:
            continue
        start = time.perf_counter()
        made[name] = json.loads(json.dumps(run()))
        slowest = max(slowest, (time.perf_counter() - start, name))
        if asked.record or made[name] == known.get(name):
            continue
        different += 1
        print(f"differs: {name}")
        for key in {**known.get(name, {}), **made[name]}:
            was, is_ = known.get(name, {}).get(key), made[name].get(key)
            if was != is_:
                print(f"  {key}: was {was!r}\n  {' ' * len(key)}  is  {is_!r}")
    print(f"{len(made)} tables, {different} differ; slowest {slowest[1]}, {slowest[0]:.1f} s")
    if asked.record:
        ANSWERS.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
