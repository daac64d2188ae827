"""Code for named checksums: a function of the message's bytes in C or Python."""

from typing import NamedTuple

import numpy as np

from paritylab.discovery.fields.crc import CrcFit, plain_map
from paritylab.discovery.fields.emit import identifier, upper_hex
from paritylab.discovery.fields.matrix import XorMatrix
from paritylab.discovery.fields.sums import FAMILIES, SumFit


class _Steps(NamedTuple):
    """How a sum is built; every line is valid in C and in Python.

    step: for byte x, the j-th of m. value: of the sums a and b in the end. W stands for the bytes
    of the check value.
    """

    step: tuple[str, ...]
    value: str = "a"


def _two_sums(modulus: int, shift: int, start: int = 0) -> str:
    extra = f" + {start}" if start else ""
    more = " + m" if start else ""
    return f"((b{more}) % {modulus}) << {shift} | (a{extra}) % {modulus}"


_STEPS: dict[str, _Steps] = {
    "xor-bytes": _Steps(("a ^= x",)),
    "xor-nibbles": _Steps(("a ^= (x >> 4) ^ (x & 15)",)),
    "xor-words": _Steps(("a ^= x << (8 * (W - 1 - j % W))",)),
    "sum-bytes": _Steps(("a += x",)),
    "negative-sum": _Steps(("a -= x",)),
    "sum-nibbles": _Steps(("a += (x >> 4) + (x & 15)",)),
    "sum-big": _Steps(("a += x << (8 * (W - 1 - j % W))",)),
    "sum-little": _Steps(("a += x << (8 * (j % W))",)),
    "internet": _Steps(
        ("a += x << (8 * (1 - j % 2))",), "0xffff - ((a - 1) % 0xffff + 1) * (a > 0)"
    ),
    "sum-255": _Steps(("a += x",), "a % 255"),
    "fletcher-8": _Steps(
        (
            "a += (x >> 4) + (x & 15)",
            "b += 2 * (m - j) * (x >> 4) + (2 * (m - j) - 1) * (x & 15)",
        ),
        _two_sums(15, 4),
    ),
    "fletcher-16": _Steps(("a += x", "b += (m - j) * x"), _two_sums(255, 8)),
    "fletcher-16-256": _Steps(("a += x", "b += (m - j) * x"), _two_sums(256, 8)),
    "fletcher-32": _Steps(
        (
            "a += x << (8 * (j % 2))",
            "b += (((m + 1) >> 1) - (j >> 1)) * (x << (8 * (j % 2)))",
        ),
        _two_sums(65535, 16),
    ),
    "adler-32": _Steps(("a += x", "b += (m - j) * x"), _two_sums(65521, 16, 1)),
}


def _swapped(width: int, little: bool) -> str:
    """The value with its bytes in the order in which they are stored."""
    if not little:
        return "value"
    count = width // 8
    parts = [f"((value >> {8 * at}) & 0xff) << {8 * (count - 1 - at)}" for at in range(count)]
    return " | ".join(f"({part})" for part in parts)


def emit_sum(fit: SumFit, language: str, name: str) -> str:
    """A function of the message's bytes."""
    steps, mask = _STEPS[fit.family], (1 << fit.width) - 1
    joint = "^" if FAMILIES[fit.family].is_xor else "+"
    value = f"(({steps.value}) {joint} 0x{fit.constant:x}) & 0x{mask:x}"
    step = [each.replace("W", str(fit.width // 8)) for each in steps.step]
    if language == "c":
        value = value.replace("0x", "(uint64_t)0x")
        body = [f"        {each};" for each in step]
        return _in_c(
            name,
            fit.skip,
            ["    uint64_t a = 0, b = 0, m = length - first;"],
            body,
            [f"    uint64_t value = {value};", "    (void)b, (void)m;"],
            _swapped(fit.width, fit.little),
        )
    _refuse_verilog(language, fit.name)
    lines = ["    a = b = 0", f"    m = len(message) - {fit.skip}"]
    lines += [f"    for j, x in enumerate({_rest(fit.skip)}):", *(f"        {s}" for s in step)]
    lines += [f"    value = {value}", f"    return {_swapped(fit.width, fit.little)}", ""]
    return upper_hex("\n".join([f"def {identifier(name)}(message):", *lines]))


def emit_crc(fit: CrcFit, language: str, name: str) -> str:
    """A function of the message's bytes, bit by bit."""
    how, top, mask = fit.conventions, fit.width - 1, (1 << fit.width) - 1
    bit = "k" if how.refin else "(7 - k)"
    if language == "c":
        suffix = "ull"
        body = [
            "        for (int k = 0; k < 8; k++) {",
            f"            uint64_t over = (r >> {top} & 1) ^ (x >> {bit} & 1);",
            f"            r = (r << 1 & 0x{mask:x}{suffix}) ^ (over ? 0x{fit.poly:x}{suffix} : 0);",
            "        }",
        ]
        after = ["    uint64_t value = r;"]
        if how.refout:
            after = [
                "    uint64_t value = 0;",
                f"    for (int k = 0; k < {fit.width}; k++)",
                f"        value |= (r >> k & 1) << ({top} - k);",
            ]
        if fit.xorout:
            after.append(f"    value ^= 0x{fit.xorout:x}{suffix};")
        start = [f"    uint64_t r = 0x{fit.init:x}{suffix};"]
        return _in_c(name, how.skip, start, body, after, _swapped(fit.width, how.little))
    _refuse_verilog(language, "a CRC of frames of several lengths")
    lines = [
        f"def {identifier(name)}(message):",
        f"    r = 0x{fit.init:x}",
        f"    for x in {_rest(how.skip)}:",
        "        for k in range(8):",
        f"            over = (r >> {top} & 1) ^ (x >> {bit} & 1)",
        f"            r = (r << 1 & 0x{mask:x}) ^ (0x{fit.poly:x} if over else 0)",
        "    value = r",
    ]
    if how.refout:
        lines[-1] = f"    value = sum((r >> k & 1) << ({top} - k) for k in range({fit.width}))"
    lines += [f"    value ^= 0x{fit.xorout:x}"] if fit.xorout else []
    lines += [f"    return {_swapped(fit.width, how.little)}", ""]
    return upper_hex("\n".join(lines))


def _rest(skip: int) -> str:
    return f"message[{skip}:]" if skip else "message"


def _refuse_verilog(language: str, what: str) -> None:
    if language == "verilog":
        raise ValueError(
            f"Verilog is made for XOR matrices of one length; for {what} use c, python"
        )


def _in_c(
    name: str, skip: int, start: list[str], body: list[str], after: list[str], value: str
) -> str:
    uses = any("j" in line for line in body)
    lines = [
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        f"uint64_t {identifier(name)}(const uint8_t *message, size_t length)",
        "{",
        f"    const size_t first = {skip};",
        *start,
        "    for (size_t i = first; i < length; i++) {",
        *(["        uint64_t j = i - first;"] if uses else []),
        "        uint64_t x = message[i];",
        *body,
        "    }",
        *after,
        f"    return {value};",
        "}",
        "",
    ]
    return "\n".join(lines)


def crc_matrix(fit: CrcFit, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> XorMatrix:
    """The CRC of messages of one length as an XOR matrix. inputs: names of the message's bits."""
    how, width = fit.conventions, fit.width
    (length, constant), *others = fit.constants.items()
    if others:
        raise ValueError("a CRC has one matrix for each length; choose frames of one length")
    sent = plain_map(fit.poly | 1 << width, width, length)
    start = len(inputs) - length
    if how.refin:
        sent = sent.reshape(width, -1, 8)[:, :, ::-1].reshape(width, -1)
    bits = np.array([constant >> (width - 1 - at) & 1 for at in range(width)], np.uint8)
    if how.refout:
        sent, bits = sent[::-1], bits[::-1]
    if how.little:
        order = np.arange(width).reshape(-1, 8)[::-1].ravel()
        sent, bits = sent[order], bits[order]
    rows = np.zeros((width, len(inputs)), np.uint8)
    rows[:, start:] = sent
    return XorMatrix(outputs, inputs, rows, bits)


def crc_text(fit: CrcFit) -> str:
    """Parameters in the usual words."""
    digits = -(-fit.width // 4)
    how = fit.conventions
    parts = [
        f"width {fit.width}",
        f"polynomial 0x{fit.poly:0{digits}x}",
        f"reflected in {'yes' if how.refin else 'no'}, out {'yes' if how.refout else 'no'}",
        f"init 0x{fit.init:0{digits}x}",
        f"xorout 0x{fit.xorout:0{digits}x}",
    ]
    if how.little:
        parts.append("stored least significant byte first")
    if how.skip:
        parts.append(f"without the first {how.skip} byte{'s' * (how.skip > 1)}")
    return ", ".join(parts)
