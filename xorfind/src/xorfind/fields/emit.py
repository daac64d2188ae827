"""Code that computes a field, in C or Python.

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
    if isinstance(best, SumFit):
        return emit_sum(best, language, found.target)
    if best is not None and all(length % 8 == 0 for length in best.constants):
        return emit_crc(best, language, found.target)
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


def _python(lines: list[str]) -> str:
    """Lines of Python, hex digits as its formatters write them."""
    text = "\n".join([*lines, ""])
    return re.sub(r"0x[0-9a-f]+", lambda found: "0x" + found[0][2:].upper(), text)


# XOR matrices.


def emit(matrix: XorMatrix, language: str, name: str) -> str:
    """Source text for a matrix: every output is the parity of masked words."""
    if len(matrix.outputs) > 64:
        raise ValueError(f"code returns up to 64 bits, this field has {len(matrix.outputs)}")
    frames, integers = _arguments(matrix)
    in_c, lines = language == "c", list[str]()
    for at, row in enumerate(matrix.rows):
        terms = [f"({word} & {_mask(mask, in_c)})" for word, mask in _masked(matrix, row)]
        term, odd = " ^ ".join(terms) or "0", int(matrix.constants[at])
        shift, output = len(matrix.outputs) - 1 - at, matrix.outputs[at]
        if in_c:
            value = f"(uint64_t)(parity({term}){' ^ 1u' * odd})"
            lines.append(f"    out |= {value} << {shift}; /* {output} */")
        else:
            value = f"(({term}).bit_count() & 1{' ^ 1' * odd})"
            lines.append(f"    out |= {value} << {shift}  # {output}")
    if not in_c:
        head = f"def {identifier(name)}({', '.join([*frames, *integers])}):"
        return _python([head, "    out = 0", *lines, "    return out"])
    arguments = [f"const uint8_t *{each}" for each in frames]
    arguments += [f"uint64_t {each}" for each in integers]
    head = f"uint64_t {identifier(name)}({', '.join(arguments)})"
    body = ["{", "    uint64_t out = 0;", *lines, "    return out;", "}", ""]
    return "\n".join(["#include <stdint.h>", "", _PARITY_C, head, *body])


def _mask(value: int, in_c: bool) -> str:
    return f"0x{value:x}" + ("u" + "ll" * (value > 0xFFFFFFFF) if in_c else "")


def _arguments(matrix: XorMatrix) -> tuple[list[str], list[str]]:
    """Names of the frames and of the integers that a function of the inputs takes."""
    frames, integers = dict[str, None](), dict[str, None]()
    for place in map(place_of, matrix.inputs):
        assert place is not None, "a matrix of one length"
        if place.bit is None and place.unit > 63:
            raise ValueError("code takes integers of up to 64 bits")
        kind = integers if place.bit is None else frames
        kind.update(dict.fromkeys(map(identifier, place.name.split("^"))))
    return [*frames], [*integers]


def _masked(matrix: XorMatrix, row: np.ndarray) -> list[tuple[str, int]]:
    """Words with masks whose XOR has the parity of one output."""
    masks: dict[str, int] = {}
    for place in (place_of(matrix.inputs[at]) for at in np.flatnonzero(row)):
        assert place is not None
        parts = [identifier(each) for each in place.name.split("^")]
        if place.bit is not None:
            parts = [f"{each}[{place.unit}]" for each in parts]
        word = parts[0] if len(parts) == 1 else f"({' ^ '.join(parts)})"
        masks[word] = masks.get(word, 0) ^ (1 << (place.unit if place.bit is None else place.bit))
    return [*masks.items()]


# Checksums.


class _Steps(NamedTuple):
    """What a function does with the bytes x of a message, the j-th of m.

    start: variables and their first values. each: for every byte. last: in the end. Both are lines
    that mean the same in C and Python, but for a loop "for k < 8:" over the indented lines below.
    value: what is returned. skip: leading bytes to leave out. tail: bytes that follow the message.
    swap: bytes of words that are taken last byte first.
    """

    start: dict[str, str]
    each: list[str]
    last: list[str]
    value: str
    skip: int = 0
    tail: bytes = b""
    swap: int = 1

    def uses(self, name: str) -> bool:
        """Whether a variable occurs in the lines."""
        return bool(re.search(rf"\b{name}\b", " ".join([*self.each, *self.last])))


def emit_sum(fit: SumFit, language: str, name: str) -> str:
    """A function of the message's bytes for a family of sums."""
    family, mask = FAMILIES[fit.family], (1 << fit.width) - 1
    each = [line.replace("W", str(max(fit.width // 8, 1))) for line in family.steps]
    joint = "^" if family.joint == "xor" else "+"
    last = [f"value = (({family.value}) {joint} 0x{fit.constant:x}) & 0x{mask:x}"]
    steps = _Steps({"a": "0"}, each, last, _stored(fit.width, fit.little), fit.skip)
    if steps.uses("b"):
        steps = steps._replace(start={"a": "0", "b": "0"})
    return _function(language, identifier(name), steps)


def emit_crc(fit: CrcFit, language: str, name: str) -> str:
    """A function of the message's bytes for a CRC, bit by bit."""
    top, mask = fit.width - 1, (1 << fit.width) - 1
    each = [
        "for k < 8:",
        f"    over = (r >> {top} ^ x >> {'k' if fit.how.refin else '(7 - k)'}) & 1",
        f"    r = (r << 1 & 0x{mask:x}) ^ over * 0x{fit.poly:x}",
    ]
    last = ["value = r"]
    if fit.how.refout:
        last = ["value = 0", f"for k < {fit.width}:", f"    value |= (r >> k & 1) << ({top} - k)"]
    value = _stored(fit.width, fit.how.little)
    if fit.xorout:
        value = value.replace("value", f"(value ^ 0x{fit.xorout:x})")
    start = {"r": f"0x{fit.init:x}"}
    steps = _Steps(start, each, last, value, fit.skip, fit.tails[0], fit.how.swap)
    return _function(language, identifier(name), steps)


def _stored(width: int, little: bool) -> str:
    """The value with its bytes in the order in which they are stored."""
    if not little:
        return "value"
    count = width // 8
    parts = [f"((value >> {8 * at}) & 0xff) << {8 * (count - 1 - at)}" for at in range(count)]
    return " | ".join(f"({part})" for part in parts)


def _function(language: str, name: str, steps: _Steps) -> str:
    return _function_c(name, steps) if language == "c" else _function_python(name, steps)


def _function_python(name: str, steps: _Steps) -> str:
    lines = [f"def {name}(message):"]
    if steps.swap > 1:
        swapped = f"message[j ^ {steps.swap - 1}] for j in range(len(message))"
        lines.append(f"    message = bytes({swapped})")
    if steps.skip:
        lines.append(f"    message = message[{steps.skip}:]")
    if steps.tail:
        lines.append(f'    message = message + bytes.fromhex("{steps.tail.hex()}")')
    lines += ["    m = len(message)"] if steps.uses("m") else []
    lines += [f"    {each} = {first}" for each, first in steps.start.items()]
    lines.append(f"    for {'j, x in enumerate(message)' if steps.uses('j') else 'x in message'}:")
    lines += [f"        {line}" for line in steps.each]
    lines += [f"    {line}" for line in steps.last]
    looped = re.sub(r"for k < (\d+):", r"for k in range(\1):", "\n".join(lines))
    return _python([looped, f"    return {steps.value}"])


def _function_c(name: str, steps: _Steps) -> str:
    first, count = steps.skip, len(steps.tail)
    byte = f"message[j{f' ^ {steps.swap - 1}' * (steps.swap > 1)}{f' + {first}' * (first > 0)}]"
    lines = ["#include <stddef.h>", "#include <stdint.h>", ""]
    lines += [f"uint64_t {name}(const uint8_t *message, size_t length)", "{"]
    if count:
        values = ", ".join(f"0x{each:02x}" for each in steps.tail)
        lines.append(f"    static const uint8_t after[] = {{{values}}};")
        byte = f"j < length ? {byte} : after[j - length]"
    size = f"length{f' + {count}' * (count > 0)}{f' - {first}' * (first > 0)}"
    variables = [f"{each} = {begins}" for each, begins in steps.start.items()]
    variables += ["over"] if steps.uses("over") else []
    lines += [f"    uint64_t m = {size}, value, {', '.join(variables)};"]
    lines += ["    for (uint64_t j = 0; j < m; j++) {", f"        uint64_t x = {byte};"]
    lines += [*_in_c(steps.each, 8), "    }", *_in_c(steps.last, 4)]
    return "\n".join([*lines, f"    return {steps.value};", "}", ""])


def _in_c(lines: list[str], indent: int) -> list[str]:
    """Statements in C, a loop closed after its last line."""
    looped = [re.sub(r"for k < (\d+):", r"for (int k = 0; k < \1; k++) {", line) for line in lines]
    made = [" " * indent + line + ";" * (not line.endswith("{")) for line in looped]
    return made + ([" " * indent + "}"] if any(line.endswith("{") for line in looped) else [])
