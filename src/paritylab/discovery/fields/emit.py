"""Code that computes an XOR matrix: a function in C or Python, a module in Verilog."""

import re
from collections.abc import Callable

import numpy as np

from paritylab.discovery.fields.matrix import XorMatrix
from paritylab.discovery.fields.slices import place_of

LANGUAGES = ("c", "python", "verilog")

_PARITY_C = """static unsigned parity(uint64_t v)
{
    v ^= v >> 32; v ^= v >> 16; v ^= v >> 8; v ^= v >> 4; v ^= v >> 2; v ^= v >> 1;
    return (unsigned)(v & 1u);
}
"""


def identifier(text: str) -> str:
    """A name that every language takes.

    >>> identifier("frame[-1]")
    'frame_1'
    """
    made = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return made if made and not made[0].isdigit() else f"f_{made}".rstrip("_")


def upper_hex(text: str) -> str:
    """Hex digits as Python's formatters write them.

    >>> upper_hex("value & 0xff")
    'value & 0xFF'
    """
    return re.sub(r"0x[0-9a-f]+", lambda found: "0x" + found[0][2:].upper(), text)


class _Source:
    """The arguments of a function: integers, and frames with their length in bytes."""

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

    def terms(self, row: np.ndarray) -> list[tuple[str, int]]:
        """Words and masks whose XOR has the parity of one output."""
        masks: dict[str, int] = {}
        for at in np.flatnonzero(row):
            name, unit, bit = self.places[at]
            parts = [identifier(each) for each in name.split("^")]
            if bit is not None:
                parts = [f"{each}[{unit}]" for each in parts]
            word = parts[0] if len(parts) == 1 else f"({' ^ '.join(parts)})"
            masks[word] = masks.get(word, 0) ^ (1 << (unit if bit is None else bit))
        return list(masks.items())


def emit(matrix: XorMatrix, language: str, name: str) -> str:
    """Source text that computes the outputs, the first of them the most significant bit."""
    writers: dict[str, Callable[[XorMatrix, str], str]] = {
        "c": _c,
        "python": _python,
        "verilog": _verilog,
    }
    if language not in writers:
        raise ValueError(f"--emit takes {', '.join(LANGUAGES)}, got {language!r}")
    if len(matrix.outputs) > 64:
        raise ValueError(f"code returns up to 64 bits, this field has {len(matrix.outputs)}")
    return writers[language](matrix, identifier(name))


def _c(matrix: XorMatrix, name: str) -> str:
    source, top = _Source(matrix), len(matrix.outputs) - 1
    arguments = [f"const uint8_t *{identifier(each)}" for each in source.frames]
    arguments += [f"uint64_t {identifier(each)}" for each in source.integers]
    lines = ["#include <stdint.h>", "", _PARITY_C]
    lines += [f"uint64_t {name}({', '.join(arguments)})", "{", "    uint64_t out = 0;"]
    for at, row in enumerate(matrix.rows):
        terms = " ^ ".join(
            f"({w} & 0x{mask:x}u{'ll' * (mask > 0xFFFFFFFF)})" for w, mask in source.terms(row)
        )
        value = f"parity({terms or '0'}){' ^ 1u' * int(matrix.constants[at])}"
        lines.append(f"    out |= (uint64_t)({value}) << {top - at}; /* {matrix.outputs[at]} */")
    return "\n".join([*lines, "    return out;", "}", ""])


def _python(matrix: XorMatrix, name: str) -> str:
    source, top = _Source(matrix), len(matrix.outputs) - 1
    arguments = ", ".join(identifier(each) for each in [*source.frames, *source.integers])
    lines = [f"def {name}({arguments}):", "    out = 0"]
    for at, row in enumerate(matrix.rows):
        terms = " ^ ".join(f"({word} & 0x{mask:x})" for word, mask in source.terms(row)) or "0"
        tail = " ^ 1" * int(matrix.constants[at])
        lines.append(
            f"    out |= (({terms}).bit_count() & 1{tail}) << {top - at}  # {matrix.outputs[at]}"
        )
    return upper_hex("\n".join([*lines, "    return out", ""]))


def _verilog(matrix: XorMatrix, name: str) -> str:
    source, top = _Source(matrix), len(matrix.outputs) - 1
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
        terms = []
        for column in np.flatnonzero(row):
            named, unit, bit = source.places[column]
            for each in named.split("^"):
                where = unit if bit is None else 8 * (source.frames[each] - 1 - unit) + bit
                terms.append(f"{identifier(each)}[{where}]")
        if matrix.constants[at] or not terms:
            terms.append(f"1'b{int(matrix.constants[at])}")
        lines.append(f"    assign out[{top - at}] = {' ^ '.join(terms)}; // {matrix.outputs[at]}")
    return "\n".join([*lines, "endmodule", ""])
