"""Tables of rows with a known answer: planted parities, decoys that are none, and worked cases.

Every function draws from its own seed with numpy alone and returns a `Planted` table: columns by
name, targets among them, and the truth about each target. Labels in ±1 follow the house: label =
sign·(-1)^(xor of the bits in the subset). In the columns a target is a bit, 1 for the label -1.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Truth:
    """What is hidden behind one target.

    target: its column. subset: the columns it depends on, in order. sign: of the parity. noise:
    chance that a label was flipped. kind: the function of those columns.
    """

    target: str
    subset: tuple[str, ...]
    sign: int = 1
    noise: float = 0.0
    kind: str = "parity"


@dataclass(frozen=True)
class Planted:
    """A table with its answer. columns: values by name, targets last. truths: one per target."""

    columns: dict[str, np.ndarray]
    truths: tuple[Truth, ...]

    @property
    def truth(self) -> Truth:
        """The truth about the first target."""
        return self.truths[0]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns that are no target."""
        targets = {truth.target for truth in self.truths}
        return tuple(name for name in self.columns if name not in targets)

    @property
    def bits(self) -> np.ndarray:
        """The features as an (N, n) matrix."""
        return np.stack([self.columns[name] for name in self.features], axis=1)

    @property
    def labels(self) -> np.ndarray:
        """The first target in ±1: bit 0 is +1, bit 1 is -1."""
        return 1 - 2 * self.columns[self.truth.target].astype(np.int8)

    @property
    def positions(self) -> tuple[int, ...]:
        """Where the first truth's subset stands among the features."""
        return tuple(sorted(self.features.index(name) for name in self.truth.subset))

    def write(self, path: str | Path) -> Path:
        """The table as a CSV file with a header."""
        path = Path(path)
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(zip(*(v.tolist() for v in self.columns.values()), strict=True))
        return path


def planted(
    n: int,
    k: int,
    rows: int,
    *,
    noise: float = 0.0,
    targets: int = 1,
    sign: int = 1,
    seed: int = 0,
) -> Planted:
    """Hidden parities of k of n bits, one independent subset per target.

    noise: chance of a flipped label.

    >>> table = planted(8, 3, 100, noise=0.1, seed=1)
    >>> table.bits.shape, len(table.truth.subset)
    ((100, 8), 3)
    """
    if not 0 < k <= n:
        raise ValueError(f"k must be between 1 and n={n}, got {k}")
    generator = np.random.default_rng(seed)
    bits = (generator.random((rows, n)) < 0.5).astype(np.uint8)
    names = tuple(f"x{j}" for j in range(n))
    columns = dict(zip(names, bits.T, strict=True))
    truths = []
    for at in range(targets):
        subset = np.sort(generator.choice(n, k, replace=False))
        target = "y" if targets == 1 else f"y{at}"
        truths.append(Truth(target, tuple(names[j] for j in subset), sign, noise))
        columns[target] = _label_bits(generator, bits[:, subset], sign, noise)
    return Planted(columns, tuple(truths))


def with_copies(table: Planted, names: Sequence[str], *, flipped: bool = False) -> Planted:
    """The table with a copy of each named column, complementary if flipped, named `…_copy`."""
    copies = {
        f"{name}_copy": 1 - table.columns[name] if flipped else table.columns[name]
        for name in names
    }
    features = {name: table.columns[name] for name in table.features}
    return replace(table, columns={**features, **copies, **table.columns})


def decoy(
    kind: Literal["and", "or", "majority", "nothing"],
    n: int,
    k: int,
    rows: int,
    *,
    noise: float = 0.0,
    balance: float = 0.5,
    seed: int = 0,
) -> Planted:
    """A target that is no parity: AND, OR or majority of k bits, or nothing at all.

    balance: P(bit = 1) of every column and, for "nothing", of the independent target.
    """
    generator = np.random.default_rng(seed)
    bits = (generator.random((rows, n)) < balance).astype(np.uint8)
    subset = np.sort(generator.choice(n, k, replace=False))
    count = bits[:, subset].sum(axis=1)
    value = {
        "and": count == k,
        "or": count > 0,
        "majority": 2 * count > k,
        "nothing": generator.random(rows) < balance,
    }[kind]
    label = (value ^ (generator.random(rows) < noise)).astype(np.uint8)
    names = tuple(f"x{j}" for j in range(n))
    hidden = () if kind == "nothing" else tuple(names[j] for j in subset)
    columns = {**dict(zip(names, bits.T, strict=True)), "y": label}
    return Planted(columns, (Truth("y", hidden, 1, noise, kind),))


def digits(n: int = 50, rows: int = 1000, *, k: int = 6, seed: int = 0) -> Planted:
    """Digits 0-9; the target is the alternating ± sum of k hidden positions, as in HG1's code.

    Its last bit is the parity of the last bits of those digits.
    """
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 10, (rows, n))
    subset = np.sort(generator.choice(n, k, replace=False))
    total = (values[:, subset] * (-1) ** np.arange(k)).sum(axis=1)
    names = tuple(f"d{j}" for j in range(n))
    columns = {**dict(zip(names, values.T, strict=True)), "y": total}
    truth = Truth("y", tuple(names[j] for j in subset), 1, 0.0, "alternating sum")
    return Planted(columns, (truth,))


def dna(n: int = 50, rows: int = 2000, *, k: int = 10, seed: int = 0) -> Planted:
    """Strings of ACGT; the target is the parity of "is A or T" over k positions, as in HG1's code.

    Columns hold letters; `at_bits` turns them into bits.
    """
    generator = np.random.default_rng(seed)
    letters = generator.choice(np.array(list("ACGT")), (rows, n))
    subset = np.sort(generator.choice(n, k, replace=False))
    label = np.bitwise_xor.reduce(at_bits(letters[:, subset]), axis=1)
    names = tuple(f"s{j}" for j in range(n))
    columns = {**dict(zip(names, letters.T, strict=True)), "y": label}
    return Planted(columns, (Truth("y", tuple(names[j] for j in subset)),))


def at_bits(letters: np.ndarray) -> np.ndarray:
    """1 for A and T, 0 for C and G."""
    return np.isin(letters, ["A", "T"]).astype(np.uint8)


def crc_bit(message: int = 48, rows: int = 200, *, bit: int = 3, seed: int = 0) -> Planted:
    """One bit of the CRC-8 (polynomial x⁸ + x² + x + 1) of random messages.

    A CRC without start value is linear, so the bit is the parity of those message bits whose own
    CRC has it.

    >>> table = crc_bit()
    >>> parity = np.bitwise_xor.reduce(table.bits[:, table.positions], axis=1)
    >>> bool((parity == table.columns["crc"]).all())
    True
    """
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 2, (rows, message), dtype=np.uint8)
    names = tuple(f"m{j}" for j in range(message))
    columns = {**dict(zip(names, bits.T, strict=True)), "crc": crc8(bits) >> bit & 1}
    alone = crc8(np.eye(message, dtype=np.uint8)) >> bit & 1
    return Planted(columns, (Truth("crc", tuple(names[j] for j in np.flatnonzero(alone))),))


def crc8(bits: np.ndarray) -> np.ndarray:
    """CRC-8 with polynomial 0x07 of every row of bits, first bit first."""
    register = np.zeros(len(bits), dtype=np.uint8)
    for column in bits.T:
        feedback = (register >> 7) ^ column
        register = (register << 1) ^ (feedback * 0x07).astype(np.uint8)
    return register


def address_hash(rows: int = 3000, *, wrong: float = 0.05, seed: int = 0) -> Planted:
    """Addresses and the time a second access took, in the style of a memory channel's hash.

    The access is slow exactly when the hidden parity of address bits is 1, except for the share
    `wrong` of measurements. Slow and fast lie on both sides of 220 cycles.
    """
    generator = np.random.default_rng(seed)
    address = generator.integers(0, 2**26, rows) & ~63
    bits = (7, 8, 9, 12, 13, 18, 19)
    parts = np.stack([address >> b & 1 for b in bits], axis=1).astype(np.uint8)
    slow = _label_bits(generator, parts, 1, wrong)
    cycles = np.rint(generator.normal(180 + 80 * slow.astype(float), 8)).astype(int)
    columns = {"address": address, "cycles": cycles}
    return Planted(columns, (Truth("cycles", tuple(f"address.{b}" for b in bits), 1, wrong),))


def epistasis(
    loci: int = 100, rows: int = 1600, *, order: int = 2, heritability: float = 0.2, seed: int = 0
) -> Planted:
    """Genotypes 0, 1, 2 and a disease that depends on `order` loci with no effect of any alone.

    In the manner of GAMETES: half of the people carry each minor allele, an odd number of carried
    risk loci raises the risk from (1-h)/2 to (1+h)/2 with h² the heritability.
    """
    generator = np.random.default_rng(seed)
    frequency = 1 - np.sqrt(0.5)
    genotypes = generator.binomial(2, frequency, (rows, loci))
    subset = np.sort(generator.choice(loci, order, replace=False))
    noise = float((1 - np.sqrt(heritability)) / 2)
    carried = (genotypes[:, subset] > 0).astype(np.uint8)
    case = _label_bits(generator, carried, 1, noise)
    names = tuple(f"snp{j}" for j in range(loci))
    columns = {**dict(zip(names, genotypes.T, strict=True)), "case": case}
    return Planted(columns, (Truth("case", tuple(names[j] for j in subset), 1, noise),))


def linear_approximation(rows: int = 2000, *, bits: int = 32, seed: int = 0) -> Planted:
    """Plaintext bits and one bit of a cipher's inner state that a mask of them predicts badly.

    Two S-box approximations that hold 3 times in 4 chain to 1/2 + 2·(1/4)² = 5/8: noise 0.375.
    """
    table = planted(bits, 3, rows, noise=0.375, seed=seed)
    renamed = {name.replace("x", "p").replace("y", "state"): v for name, v in table.columns.items()}
    subset = tuple(name.replace("x", "p") for name in table.truth.subset)
    return Planted(renamed, (replace(table.truth, target="state", subset=subset),))


def _label_bits(
    generator: np.random.Generator, bits: np.ndarray, sign: int, noise: float
) -> np.ndarray:
    """The parity of the bits of each row as a bit, flipped at random with chance `noise`."""
    parity = np.bitwise_xor.reduce(bits, axis=1) ^ (sign < 0)
    flipped = generator.random(len(bits)) < noise
    return np.asarray(parity.astype(bool) ^ flipped, dtype=np.uint8)
