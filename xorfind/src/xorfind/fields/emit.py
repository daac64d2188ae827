"""Code that computes a field: C or Python for checksums by name, and Verilog too for XOR matrices.

A function takes the bytes of the message (a checksum), or frames and integers by their names (a
matrix), and returns the field as a number, its first output the most significant bit.
"""

import re
from typing import NamedTuple

import numpy as np

from xorfind.fields.crc import CrcFit
from xorfind.fields.hunt import Finding, Outcome
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.slices import place_of
from xorfind.fields.sums import FAMILIES, SumFit

LANGUAGES = ("c", "python", "verilog")

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
    if found.outcome == Outcome.TWO:
        raise ValueError(f"{found.target} has two formulas; keep the rows of one of them in a file")
    best = found.named if found.outcome == Outcome.NAMED and found.shape is None else None
    if found.matrix is not None and not found.system.lengths and language == "verilog":
        best = None
    if isinstance(best, SumFit):
        if found.system.size % 8:
            raise ValueError(f"code takes whole bytes; the message of {found.target} has half ones")
        return emit_sum(best, language, found.target)
    if best is not None and all(length % 8 == 0 for length in best.constants):
        return emit_crc(best, language, found.target)
    matrix = found.usable_matrix
    if matrix is None:
        raise ValueError(f"no XOR matrix of {found.target} serves new rows: no code to print")
    return emit(matrix, language, found.target)


def identifier(text: str) -> str:
    """A name that every language takes.

    >>> identifier("frame[-1]")
    'frame_1'
    """
    made = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return made if made and not made[0].isdigit() else f"f_{made}".rstrip("_")


def _python(lines: list[str]) -> str:
    """Lines of Python, hex digits as its formatters write them."""
    text = "\n".join([*lines, ""])
    return re.sub(r"0x[0-9a-f]+", lambda found: "0x" + found[0][2:].upper(), text)


class _Source:
    """The arguments of a function: frames with their bytes, integers with their bits."""

    def __init__(self, matrix: XorMatrix) -> None:
        self.frames: dict[str, int] = {}
        self.integers: dict[str, int] = {}
        self.places = []
        for label in matrix.inputs:
            place = place_of(label)
            if place is None or place.unit < 0:
                raise ValueError(
                    "code for frames of several lengths is made for named checksums only; keep the "
                    "frames of one length in a file of their own"
                )
            kind = self.integers if place.bit is None else self.frames
            for name in place.name.split("^"):
                kind[name] = max(kind.get(name, 0), place.unit + 1)
            self.places.append(place)
        if any(width > 64 for width in self.integers.values()):
            raise ValueError("code takes integers of up to 64 bits")

    def masked(self, row: np.ndarray) -> dict[str, int]:
        """Words with masks whose XOR has the parity of one output."""
        masks: dict[str, int] = {}
        for at in np.flatnonzero(row):
            name, unit, bit = self.places[at]
            parts = [identifier(each) for each in name.split("^")]
            if bit is not None:
                parts = [f"{each}[{unit}]" for each in parts]
            word = parts[0] if len(parts) == 1 else f"({' ^ '.join(parts)})"
            masks[word] = masks.get(word, 0) ^ (1 << (unit if bit is None else bit))
        return masks

    def wires(self, row: np.ndarray) -> list[str]:
        """The wires whose XOR is one output."""
        made = []
        for name, unit, bit in (self.places[at] for at in np.flatnonzero(row)):
            for each in name.split("^"):
                where = unit if bit is None else 8 * (self.frames[each] - 1 - unit) + bit
                made.append(f"{identifier(each)}[{where}]")
        return made


def emit(matrix: XorMatrix, language: str, name: str) -> str:
    """Source text for a matrix."""
    writers = {"c": _matrix_c, "python": _matrix_python, "verilog": _matrix_verilog}
    if language not in writers:
        raise ValueError(f"--emit takes {', '.join(LANGUAGES)}, got {language!r}")
    if len(matrix.outputs) > 64:
        raise ValueError(f"code returns up to 64 bits, this field has {len(matrix.outputs)}")
    return writers[language](matrix, _Source(matrix), identifier(name))


def _matrix_c(matrix: XorMatrix, source: _Source, name: str) -> str:
    arguments = [f"const uint8_t *{identifier(each)}" for each in source.frames]
    arguments += [f"uint64_t {identifier(each)}" for each in source.integers]
    lines = ["#include <stdint.h>", "", _PARITY_C]
    lines += [f"uint64_t {name}({', '.join(arguments)})", "{", "    uint64_t out = 0;"]
    for at, row in enumerate(matrix.rows):
        terms = " ^ ".join(
            f"({word} & 0x{mask:x}u{'ll' * (mask > 0xFFFFFFFF)})"
            for word, mask in source.masked(row).items()
        )
        value = f"parity({terms or '0'}){' ^ 1u' * int(matrix.constants[at])}"
        shift = len(matrix.outputs) - 1 - at
        lines.append(f"    out |= (uint64_t)({value}) << {shift}; /* {matrix.outputs[at]} */")
    return "\n".join([*lines, "    return out;", "}", ""])


def _matrix_python(matrix: XorMatrix, source: _Source, name: str) -> str:
    arguments = ", ".join(identifier(each) for each in [*source.frames, *source.integers])
    lines = [f"def {name}({arguments}):", "    out = 0"]
    for at, row in enumerate(matrix.rows):
        terms = [f"({word} & 0x{mask:x})" for word, mask in source.masked(row).items()]
        value = f"({' ^ '.join(terms) or '0'}).bit_count() & 1{' ^ 1' * int(matrix.constants[at])}"
        shift = len(matrix.outputs) - 1 - at
        lines.append(f"    out |= ({value}) << {shift}  # {matrix.outputs[at]}")
    return _python([*lines, "    return out"])


def _matrix_verilog(matrix: XorMatrix, source: _Source, name: str) -> str:
    top = len(matrix.outputs) - 1
    ports = [
        f"    input  wire [{8 * size - 1}:0] {identifier(each)}, // byte 0 first, its bit 7 on top"
        for each, size in source.frames.items()
    ]
    ports += [
        f"    input  wire [{width - 1}:0] {identifier(each)},"
        for each, width in source.integers.items()
    ]
    lines = [f"module {name} (", *ports, f"    output wire [{top}:0] out", ");"]
    for at, row in enumerate(matrix.rows):
        terms = source.wires(row)
        if matrix.constants[at] or not terms:
            terms.append(f"1'b{int(matrix.constants[at])}")
        lines.append(f"    assign out[{top - at}] = {' ^ '.join(terms)}; // {matrix.outputs[at]}")
    return "\n".join([*lines, "endmodule", ""])


def emit_sum(fit: SumFit, language: str, name: str) -> str:
    """A function of the message's bytes for a family of sums."""
    _refuse_verilog(language, fit.name)
    family, mask = FAMILIES[fit.family], (1 << fit.width) - 1
    steps = [each.replace("W", str(max(fit.width // 8, 1))) for each in family.steps]
    joint = "^" if family.is_xor else "+"
    value = [f"value = (({family.value}) {joint} 0x{fit.constant:x}) & 0x{mask:x}"]
    message = _Message(fit.skip)
    start = {"a": "0", "b": "0"}
    return _function(language, name, message, start, steps, value, _stored(fit.width, fit.little))


def emit_crc(fit: CrcFit, language: str, name: str) -> str:
    """A function of the message's bytes for a CRC, bit by bit."""
    _refuse_verilog(language, "a CRC of frames of several lengths")
    top, mask = fit.width - 1, (1 << fit.width) - 1
    steps = [
        "for k < 8:",
        f"    over = (r >> {top} ^ x >> {'k' if fit.how.refin else '(7 - k)'}) & 1",
        f"    r = (r << 1 & 0x{mask:x}) ^ over * 0x{fit.poly:x}",
    ]
    after = ["value = r"]
    if fit.how.refout:
        after = ["value = 0", f"for k < {fit.width}:", f"    value |= (r >> k & 1) << ({top} - k)"]
    last = _stored(fit.width, fit.how.little)
    if fit.xorout:
        last = last.replace("value", f"(value ^ 0x{fit.xorout:x})")
    message = _Message(fit.skip, fit.appended, fit.how.swap)
    start = {"r": f"0x{fit.init:x}"}
    return _function(language, name, message, start, steps, after, last)


def _stored(width: int, little: bool) -> str:
    """The value with its bytes in the order in which they are stored."""
    if not little:
        return "value"
    count = width // 8
    parts = [f"((value >> {8 * at}) & 0xff) << {8 * (count - 1 - at)}" for at in range(count)]
    return " | ".join(f"({part})" for part in parts)


def _refuse_verilog(language: str, what: str) -> None:
    if language == "verilog":
        raise ValueError(
            f"Verilog is made for XOR matrices of one length; for {what} use c, python"
        )


class _Message(NamedTuple):
    """What a function goes through: leading bytes to skip, bytes that follow, words to swap."""

    skip: int = 0
    after: bytes = b""
    swap: int = 1


def _function(
    language: str,
    name: str,
    message: _Message,
    start: dict[str, str],
    steps: list[str],
    after: list[str],
    value: str,
) -> str:
    """A function that goes through the bytes x of a message, the j-th of m.

    start: variables and their first values. steps: for each byte; after: in the end; both in lines
    that mean the same in C and Python, but for a loop "for k < 8:" over the indented lines below.
    """
    text = " ".join([*steps, *after])
    used = {name: first for name, first in start.items() if re.search(rf"\b{name}\b", text)}
    write = _function_c if language == "c" else _function_python
    return write(identifier(name), message, used, steps, after, value)


def _function_python(
    name: str,
    message: _Message,
    start: dict[str, str],
    steps: list[str],
    after: list[str],
    value: str,
) -> str:
    lines = [f"def {name}(message):"]
    if message.swap > 1:
        index = f"message[j ^ {message.swap - 1}] for j in range(len(message))"
        lines.append(f"    message = bytes({index})")
    if message.skip:
        lines.append(f"    message = message[{message.skip}:]")
    if message.after:
        lines.append(f'    message = message + bytes.fromhex("{message.after.hex()}")')
    text = " ".join([*steps, *after])
    lines += ["    m = len(message)"] if re.search(r"\bm\b", text) else []
    lines += [f"    {each} = {first}" for each, first in start.items()]
    numbered = re.search(r"\bj\b", text)
    lines.append(f"    for {'j, x in enumerate(message)' if numbered else 'x in message'}:")
    lines += [f"        {line}" for line in steps]
    lines += [f"    {line}" for line in after]
    looped = re.sub(r"for k < (\d+):", r"for k in range(\1):", "\n".join(lines))
    return _python([*looped.splitlines(), f"    return {value}"])


def _function_c(
    name: str,
    message: _Message,
    start: dict[str, str],
    steps: list[str],
    after: list[str],
    value: str,
) -> str:
    first, count = message.skip, len(message.after)
    byte = f"message[j{f' ^ {message.swap - 1}' * (message.swap > 1)}{f' + {first}' * (first > 0)}]"
    lines = ["#include <stddef.h>", "#include <stdint.h>", ""]
    lines += [f"uint64_t {name}(const uint8_t *message, size_t length)", "{"]
    if count:
        values = ", ".join(f"0x{each:02x}" for each in message.after)
        lines.append(f"    static const uint8_t after[] = {{{values}}};")
        byte = f"j < length ? {byte} : after[j - length]"
    size = f"length{f' + {count}' * (count > 0)}{f' - {first}' * (first > 0)}"
    variables = [f"{each} = {begins}" for each, begins in start.items()]
    variables += ["over"] if "over = " in steps[min(1, len(steps) - 1)] else []
    lines += [f"    uint64_t m = {size}, value, {', '.join(variables)};"]
    lines += ["    for (uint64_t j = 0; j < m; j++) {", f"        uint64_t x = {byte};"]
    lines += [*_in_c(steps, 8), "    }", *_in_c(after, 4), f"    return {value};", "}", ""]
    return "\n".join(lines)


def _in_c(lines: list[str], indent: int) -> list[str]:
    """Statements in C, a loop closed after its last line."""
    looped = [re.sub(r"for k < (\d+):", r"for (int k = 0; k < \1; k++) {", line) for line in lines]
    made = [" " * indent + line + ";" * (not line.endswith("{")) for line in looped]
    return made + ([" " * indent + "}"] if any(line.endswith("{") for line in looped) else [])
