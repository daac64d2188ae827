"""Code that computes a field, in C or Python.

A function takes the bytes of the message (a checksum), or frames and integers by their names (a
matrix), and returns the field as a number, its first output the most significant bit.
"""

import re
from typing import NamedTuple

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


# Checksums.


class _Steps(NamedTuple):
    """What a function does with the bytes x of a message, the j-th of m.

    start: variables with their first values. each: for every byte. last: in the end. Both are lines
    that mean the same in C and Python, but for a loop "for k < 8:" over the indented lines below.
    value: what is returned. skip: leading bytes to leave out. tail: bytes that follow the message.
    swap: bytes of words that are taken last byte first.
    """

    start: list[str]
    each: list[str]
    last: list[str]
    value: str
    skip: int = 0
    tail: bytes = b""
    swap: int = 1

    def uses(self, name: str) -> bool:
        """Whether a variable occurs in the lines."""
        return bool(re.search(rf"\b{name}\b", " ".join([*self.each, *self.last])))


def emit_checksum(fit: SumFit | CrcFit, language: str, name: str) -> str:
    """A function of the message's bytes for a checksum; of a CRC bit by bit."""
    steps = _steps_of_sum(fit) if isinstance(fit, SumFit) else _steps_of_crc(fit)
    return (_in_c if language == "c" else _in_python)(identifier(name), steps)


def _steps_of_sum(fit: SumFit) -> _Steps:
    family, mask = FAMILIES[fit.family], (1 << fit.width) - 1
    each = [line.replace("W", str(max(fit.width // 8, 1))) for line in family.steps]
    joint = "^" if family.joint == "xor" else "+"
    last = [f"value = (({family.value}) {joint} 0x{fit.constant:X}) & 0x{mask:X}"]
    start = ["a = 0", "b = 0"] if any("b +=" in line for line in each) else ["a = 0"]
    return _Steps(start, each, last, _stored(fit.width, fit.little), fit.skip)


def _steps_of_crc(fit: CrcFit) -> _Steps:
    top, mask, how = fit.width - 1, (1 << fit.width) - 1, fit.how
    each = [
        "for k < 8:",
        f"    over = (r >> {top} ^ x >> {'k' if how.refin else '(7 - k)'}) & 1",
        f"    r = (r << 1 & 0x{mask:X}) ^ over * 0x{fit.poly:X}",
    ]
    last = ["value = r"]
    if how.refout:
        last = ["value = 0", f"for k < {fit.width}:", f"    value |= (r >> k & 1) << ({top} - k)"]
    value = _stored(fit.width, how.little)
    if fit.xorout:
        value = value.replace("value", f"(value ^ 0x{fit.xorout:X})")
    return _Steps([f"r = 0x{fit.init:X}"], each, last, value, how.skip, fit.tails[0], how.swap)


def _stored(width: int, little: bool) -> str:
    """The value with its bytes in the order in which they are stored."""
    if not little:
        return "value"
    count = width // 8
    parts = [f"((value >> {8 * at}) & 0xFF) << {8 * (count - 1 - at)}" for at in range(count)]
    return " | ".join(f"({part})" for part in parts)


def _in_python(name: str, steps: _Steps) -> str:
    lines = [f"def {name}(message):"]
    if steps.swap > 1:
        swapped = f"message[j ^ {steps.swap - 1}] for j in range(len(message))"
        lines.append(f"    message = bytes({swapped})")
    if steps.skip:
        lines.append(f"    message = message[{steps.skip}:]")
    if steps.tail:
        lines.append(f'    message = message + bytes.fromhex("{steps.tail.hex()}")')
    lines += ["    m = len(message)"] if steps.uses("m") else []
    lines += [f"    {each}" for each in steps.start]
    lines.append(f"    for {'j, x in enumerate(message)' if steps.uses('j') else 'x in message'}:")
    lines += [*(f"        {each}" for each in steps.each), *(f"    {each}" for each in steps.last)]
    looped = re.sub(r"for k < (\d+):", r"for k in range(\1):", "\n".join(lines))
    return f"{looped}\n    return {steps.value}\n"


def _in_c(name: str, steps: _Steps) -> str:
    first, count = steps.skip, len(steps.tail)
    byte = f"message[j{f' ^ {steps.swap - 1}' * (steps.swap > 1)}{f' + {first}' * (first > 0)}]"
    lines = ["#include <stddef.h>", "#include <stdint.h>", ""]
    lines += [f"uint64_t {name}(const uint8_t *message, size_t length)", "{"]
    if count:
        values = ", ".join(f"0x{each:02X}" for each in steps.tail)
        lines.append(f"    static const uint8_t after[] = {{{values}}};")
        byte = f"j < length ? {byte} : after[j - length]"
    size = f"length{f' + {count}' * (count > 0)}{f' - {first}' * (first > 0)}"
    variables = [*steps.start, *(["over"] if steps.uses("over") else [])]
    lines += [f"    uint64_t m = {size}, value, {', '.join(variables)};"]
    lines += ["    for (uint64_t j = 0; j < m; j++) {", f"        uint64_t x = {byte};"]
    lines += [*_statements(steps.each, 8), "    }", *_statements(steps.last, 4)]
    return "\n".join([*lines, f"    return {steps.value};", "}", ""])


def _statements(lines: list[str], indent: int) -> list[str]:
    """Statements in C, a loop closed after its last line."""
    looped = [re.sub(r"for k < (\d+):", r"for (int k = 0; k < \1; k++) {", line) for line in lines]
    made = [" " * indent + line + ";" * (not line.endswith("{")) for line in looped]
    return made + ([" " * indent + "}"] if any(line.endswith("{") for line in looped) else [])
