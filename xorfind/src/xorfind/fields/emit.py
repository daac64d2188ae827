"""Code that computes a field, in C or Python.

A function takes the bytes of the message (a checksum), or frames and integers by their names (a
matrix), and returns the field as a number, its first output the most significant bit.
"""

import re

from xorfind.fields.crc import CrcFit
from xorfind.fields.hunt import Finding, Outcome
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.slices import Slice, slice_of
from xorfind.fields.sums import FAMILIES, SumFit

_PARITY_C = """static unsigned parity(uint64_t v)
{
    v ^= v >> 32; v ^= v >> 16; v ^= v >> 8; v ^= v >> 4; v ^= v >> 2; v ^= v >> 1;
    return (unsigned)(v & 1u);
}
"""


def code_of(found: Finding, language: str) -> str:
    """Source text that computes a field: of its checksum if it has a name, else of its matrix."""
    if not found.found:
        raise ValueError(f"{found.target} is not explained, so there is no code to print")
    best = found.named if found.outcome == Outcome.NAMED else None
    lengths = best.constants if isinstance(best, CrcFit) else ()
    if best is not None and all(length % 8 == 0 for length in lengths):
        return emit_checksum(best, language, found.target)
    if found.usable_matrix is None:
        raise ValueError(
            f"no code for {found.target}: its XORs need frames of one length in a file of their "
            "own, and rows to spare"
        )
    return emit(found.usable_matrix, language, found.target)


def identifier(text: str) -> str:
    """A name that every language takes.

    >>> identifier("frame[-1]")
    'frame_1'
    """
    made = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return made if made and not made[0].isdigit() else f"f_{made}".rstrip("_")


# XOR matrices.


def emit(matrix: XorMatrix, language: str, name: str) -> str:
    """Source text for a matrix: every output is the parity of masked words."""
    if len(matrix.outputs) > 64:
        raise ValueError(f"code returns up to 64 bits, this field has {len(matrix.outputs)}")
    bits = [slice_of(label) for label in matrix.inputs]
    if any(bit.bits is None and bit.ends > (63, 63) for bit in bits if bit.ends):
        raise ValueError("code takes integers of up to 64 bits")
    in_c, lines = language == "c", list[str]()
    for at, (output, row) in enumerate(zip(matrix.outputs, matrix.rows, strict=True)):
        masks = dict[str, int]()
        for bit, used in zip(bits, row, strict=True):
            word, place = _word(bit)
            masks[word] = masks.get(word, 0) | int(used) << place
        terms = [f"({word} & {_mask(mask, in_c)})" for word, mask in masks.items() if mask]
        term, shift = " ^ ".join(terms) or "0", len(matrix.outputs) - 1 - at
        odd = " ^ 1" * int(matrix.constants[at])
        if in_c:
            lines.append(f"    out |= (uint64_t)(parity({term}){odd}) << {shift}; /* {output} */")
        else:
            lines.append(f"    out |= (({term}).bit_count() & 1{odd}) << {shift}  # {output}")
    frames = dict.fromkeys(identifier(name) for bit in bits if bit.bits for name in bit.columns)
    others = dict.fromkeys(identifier(name) for bit in bits if not bit.bits for name in bit.columns)
    if not in_c:
        head = f"def {identifier(name)}({', '.join([*frames, *others])}):"
        return "\n".join([head, "    out = 0", *lines, "    return out", ""])
    taken = [*(f"const uint8_t *{each}" for each in frames), *(f"uint64_t {n}" for n in others)]
    head = f"uint64_t {identifier(name)}({', '.join(taken)})"
    body = ["{", "    uint64_t out = 0;", *lines, "    return out;", "}", ""]
    return "\n".join(["#include <stdint.h>", "", _PARITY_C, head, *body])


def _mask(value: int, in_c: bool) -> str:
    return f"0x{value:X}" + ("u" + "ll" * (value > 0xFFFFFFFF) if in_c else "")


def _word(bit: Slice) -> tuple[str, int]:
    """The word that holds an input bit, and its place there: a byte of a frame, an integer, or the
    XOR of some."""
    assert bit.ends is not None, "a matrix of one length"
    names = [identifier(each) for each in bit.columns]
    if bit.bits is not None:
        names = [f"{each}[{bit.ends[0]}]" for each in names]
    word = names[0] if len(names) == 1 else f"({' ^ '.join(names)})"
    return word, bit.ends[0] if bit.bits is None else bit.bits[0]


# Checksums: lines of Python, and the same lines in C.


def emit_checksum(fit: SumFit | CrcFit, language: str, name: str) -> str:
    """A function of the message's bytes for a checksum; of a CRC bit by bit."""
    lines = _sum_lines(fit) if isinstance(fit, SumFit) else _crc_lines(fit)
    stored = "value"
    if fit.how.little:
        count = fit.width // 8
        moves = [f"((value >> {8 * at}) & 0xFF) << {8 * (count - 1 - at)}" for at in range(count)]
        stored = " | ".join(f"({move})" for move in moves)
    lines.append(f"return {stored}")
    tail = fit.tails[0] if isinstance(fit, CrcFit) else ""
    return (_in_c if language == "c" else _in_python)(identifier(name), lines, tail)


def _sum_lines(fit: SumFit) -> list[str]:
    """The family's steps; sums and counters only where they are used."""
    family, mask = FAMILIES[fit.family], (1 << fit.width) - 1
    steps = [line.replace("W", str(max(fit.width // 8, 1))) for line in family.steps]
    used = set(re.findall(r"\b\w\b", " ".join([*steps, family.value])))
    joint = "^" if family.joint == "xor" else "+"
    return [
        *(f"{each} = 0" for each in ("a", "b") if each in used),
        *(["m = len(message)"] if "m" in used else []),
        f"for {'j, x in enumerate(message)' if 'j' in used else 'x in message'}:",
        *(f"    {line}" for line in steps),
        f"value = (({family.value}) {joint} 0x{fit.constant:X}) & 0x{mask:X}",
    ]


def _crc_lines(fit: CrcFit) -> list[str]:
    top, mask, next_bit = fit.width - 1, (1 << fit.width) - 1, "k" if fit.how.refin else "(7 - k)"
    lines = [
        f"r = 0x{fit.init:X}",
        "for x in message:",
        "    for k in range(8):",
        f"        over = (r >> {top} ^ x >> {next_bit}) & 1",
        f"        r = (r << 1 & 0x{mask:X}) ^ over * 0x{fit.poly:X}",
    ]
    if fit.how.refout:
        lines += ["value = 0", f"for k in range({fit.width}):"]
        lines += [f"    value |= (r >> k & 1) << ({top} - k)"]
    else:
        lines += ["value = r"]
    return lines + ([f"value ^= 0x{fit.xorout:X}"] if fit.xorout else [])


def _in_python(name: str, lines: list[str], tail: str) -> str:
    head = [f'message = message + bytes.fromhex("{tail}")'] if tail else []
    return "\n".join([f"def {name}(message):", *(f"    {each}" for each in head + lines), ""])


def _in_c(name: str, lines: list[str], tail: str) -> str:
    """Lines of Python in C: a variable is declared where it is first set, and a loop closed where
    its indentation ends. j < m counts bytes of the message with its constant."""
    byte = "message[j]"
    made = [f"    uint64_t m = length{f' + {len(tail) // 2}' if tail else ''};"]
    if tail:
        values = ", ".join(f"0x{each:02X}" for each in bytes.fromhex(tail))
        made.append(f"    static const uint8_t after[] = {{{values}}};")
        byte = "j < length ? message[j] : after[j - length]"
    known, loops = {"m"}, 0
    for line in lines:
        depth = 1 + (len(line) - len(line.lstrip())) // 4
        made += ["    " * at + "}" for at in range(loops, depth - 1, -1)]
        loops, text, indent = min(loops, depth - 1), line.strip(), "    " * depth
        if text.startswith("for "):
            loops = depth
            count = re.search(r"range\((\d+)\)", text)
            counter, end = ("k", count[1]) if count else ("j", "m")
            made.append(f"{indent}for (uint64_t {counter} = 0; {counter} < {end}; {counter}++) {{")
            made += [] if count else [f"{indent}    uint64_t x = {byte};"]
        elif text != "m = len(message)":
            variable = re.match(r"(\w+) = ", text)
            new = variable and variable[1] not in known
            known |= {variable[1]} if variable else set()
            made.append(f"{indent}{'uint64_t ' if new else ''}{text};")
    head = ["#include <stddef.h>", "#include <stdint.h>", ""]
    head.append(f"uint64_t {name}(const uint8_t *message, size_t length)")
    return "\n".join([*head, "{", *made, "}", ""])
