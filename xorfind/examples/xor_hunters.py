"""Data for people who hunt XORs, with known answers, and what `xorfind bits` says of them.

python examples/xor_hunters.py [FOLDER]     writes the files into FOLDER and stops
"""

import random
import sys
import tempfile
from pathlib import Path

from xorfind.fields import hunt, read_fields
from xorfind.fields.crc import Named, catalogue, reflect
from xorfind.fields.text import lines_of

#: In the style of published mappings: each bank bit is the XOR of these address bits.
BANKS = ((7, 8, 9, 12, 13, 18, 19), (14, 18), (15, 19), (16, 20))


def bank_of(address: int) -> int:
    """The bank of an address: bit i is the parity of the address bits BANKS[i]."""
    return sum(sum(address >> b for b in bits) % 2 << at for at, bits in enumerate(BANKS))


def labelled_banks(draw: random.Random, rows: int = 400, noise: float = 0.03) -> list[str]:
    """Addresses with their bank, some of them wrong: a table."""
    made = [(draw.getrandbits(33) & ~63, draw.randrange(16)) for _ in range(rows)]
    banks = [bank if draw.random() < noise else bank_of(at) for at, bank in made]
    return ["addr,bank", *(f"{at:#x},{bank}" for (at, _), bank in zip(made, banks, strict=True))]


def timed_pairs(draw: random.Random, rows: int = 4000) -> list[str]:
    """Pairs of addresses with a latency: slow where the bank is the same; 1 % interrupted."""
    lines = ["a,b,cycles"]
    for _ in range(rows):
        a, b = draw.getrandbits(33) & ~63, draw.getrandbits(33) & ~63
        cycles = draw.gauss(290 if bank_of(a) == bank_of(b) else 220, 10)
        cycles += 3000 * (draw.random() < 0.01)
        lines.append(f"{a:#x},{b:#x},{cycles:.0f}")
    return lines


def crc(data: bytes, named: Named) -> int:
    """The CRC of some bytes by its definition, bit by bit."""
    top, mask, register = 1 << (named.width - 1), (1 << named.width) - 1, named.init
    for byte in data:
        for bit in range(8):
            fed = byte >> (bit if named.refin else 7 - bit) & 1
            over = bool(register & top) != bool(fed)
            register = (register << 1 & mask) ^ (named.poly if over else 0)
    return (reflect(register, named.width) if named.refout else register) ^ named.xorout


def crc_frames(draw: random.Random, name: str, rows: int = 12, lengths=(6, 9)) -> list[str]:
    """Hex frames with a CRC of the catalogue at their end, most significant byte first."""
    named = next(each for each in catalogue() if each.name == name)
    data = [draw.randbytes(draw.choice(lengths)) for _ in range(rows)]
    return [(each + crc(each, named).to_bytes(named.width // 8, "big")).hex() for each in data]


def heat_pump(draw: random.Random, rows: int = 240, mixed: bool = True) -> list[str]:
    """Frames f0, opcode, data, check: an XOR of rotated bytes, no CRC; for opcode 18 a sum."""
    lines = ["# bus capture, heat-pump style"]
    for _ in range(rows):
        opcode = draw.choice([0x11, 0x15, 0x18, 0x1A] if mixed else [0x11, 0x15, 0x1A])
        data = bytes([0xF0, opcode]) + draw.randbytes(draw.choice([5, 7]))
        check = sum(data) & 255 if opcode == 0x18 else 0x5A
        for place, byte in enumerate(reversed(data) if opcode != 0x18 else b""):
            turn = 3 * place % 8
            check ^= (byte << turn | byte >> (8 - turn)) & 255
        lines.append((data + bytes([check])).hex(" "))
    return lines


def scrambler(draw: random.Random, rows: int = 200) -> list[str]:
    """Plain and sent bits: XOR with the sequence of x^7 + x^4 + 1, restarted for every row."""
    state, key = 93, 0
    for _ in range(128):
        bit = (state >> 6 ^ state >> 3) & 1
        state, key = (state << 1 | bit) & 127, key << 1 | bit
    plains = [draw.getrandbits(128) for _ in range(rows)]
    return ["plain,sent", *(f"{plain:032x},{plain ^ key:032x}" for plain in plains)]


def write(folder: Path, seed: int = 0) -> dict[str, Path]:
    """All files."""
    folder.mkdir(exist_ok=True)
    draw = random.Random(seed)
    made = {"banks.csv": labelled_banks(draw), "pairs.csv": timed_pairs(draw)}
    for name in ("CRC-8/MAXIM-DOW", "CRC-16/MODBUS", "CRC-32/ISO-HDLC"):
        made[f"{name.split('/')[0].lower()}.txt"] = crc_frames(draw, name)
    made |= {"pump.txt": heat_pump(draw, mixed=False), "conflict.txt": heat_pump(draw)}
    made["scrambler.csv"] = scrambler(draw)
    for name, lines in made.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return {name: folder / name for name in made}


def main() -> None:
    targets = {"crc-8.txt": "frame[-1]", "crc-16.txt": "frame[-2:-1]", "crc-32.txt": "frame[-4:-1]"}
    targets |= {"pump.txt": "frame[-1]", "scrambler.csv": "sent", "banks.csv": "bank"}
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder))
        for name, target in targets.items():
            table = read_fields(files[name])
            print(name, *lines_of(hunt(table, target))[:2], sep="\n  ")


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else write(Path(sys.argv[1]))
