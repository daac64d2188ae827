"""What an XOR matrix is: a parity bit, RAID parity, a Hamming code, an LFSR step, a scrambler."""

import numpy as np

from paritylab.discovery.fields.polynomials import shortest_register

#: Generator of the field in which RAID-6 computes its second parity.
RAID_6 = 0x1D
#: Widths of which the XOR of words has a name among the checksums.
WORDS = (4, 8, 16, 32)


def polynomial_text(value: int) -> str:
    """A polynomial in words.

    >>> polynomial_text(0b10011)
    'x^4 + x + 1'
    """
    names = {0: "1", 1: "x"}
    terms = [names.get(at, f"x^{at}") for at in range(value.bit_length()) if value >> at & 1]
    return " + ".join(reversed(terms)) or "0"


def shape_name(rows: np.ndarray, constants: np.ndarray, code: bool = False) -> str | None:
    """A name for a matrix, most significant output and first input first; None if it has none.

    rows: (w, n). constants: (w,). Inputs that no output uses do not count. code: name an error
    correcting code or the XOR of words, which many a checksum is too.
    """
    used: np.ndarray = np.asarray(rows.any(axis=0))
    if not used.any():
        return None
    plain = [_copy, _parity_bit, _raid_6, _register, _scrambler]
    if len(rows) not in WORDS:
        plain.append(_repeated)
    for named in (_repeated, _hamming) if code else plain:
        name = named(rows, constants, used)
        if name is not None:
            return name
    return None


def _copy(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    """The inputs themselves, XORed with a key or the output of a register."""
    if not (rows.sum(axis=1) == 1).all() or not (rows.sum(axis=0)[used] == 1).all():
        return None
    order = rows.argmax(axis=1)
    if not (np.diff(order) == 1).all() and len(order) > 1:
        return "a permutation of input bits" + (" and a fixed XOR" if constants.any() else "")
    if not constants.any():
        return "a copy of input bits"
    return f"input bits XOR a fixed key{_key_text(constants)}"


def _key_text(constants: np.ndarray) -> str:
    """Whether a fixed key is the output of a register that is much shorter than the key."""
    length, feedback = shortest_register(constants.tolist())
    if 2 * length + 8 > len(constants):
        return ""
    return (
        f": an additive scrambler, the key is an LFSR of {length} bits with polynomial "
        f"{polynomial_text(feedback)}"
    )


def _parity_bit(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    if len(rows) != 1:
        return None
    kind = "odd" if constants[0] else "even"
    every = "all" if used.all() else f"{int(used.sum())} of {len(used)}"
    return f"a parity bit ({kind}) of {every} input bits"


def _blocks(rows: np.ndarray) -> np.ndarray | None:
    """Square blocks, (count, w, w), blocks that are zero left out; None if they do not fit."""
    width = len(rows)
    if width < 2 or rows.shape[1] % width:
        return None
    blocks = rows.reshape(width, -1, width).transpose(1, 0, 2)
    return blocks[blocks.any(axis=(1, 2))]


def _repeated(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    blocks = _blocks(rows)
    if blocks is None or len(blocks) < 2:
        return None
    if not (blocks == np.eye(len(rows), dtype=np.uint8)).all():
        return None
    tail = " and a fixed XOR" if constants.any() else ""
    return f"XOR of {len(blocks)} words of {len(rows)} bits (RAID-4/5 parity){tail}"


def _raid_6(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    blocks = _blocks(rows)
    if blocks is None or len(rows) != 8 or len(blocks) < 3:
        return None
    step = np.zeros((8, 8), np.uint8)  # multiplication by x, most significant first
    step[np.arange(7), np.arange(1, 8)] = 1
    step[:, 0] ^= np.array([RAID_6 >> (7 - bit) & 1 for bit in range(8)], np.uint8)
    for order in (blocks, blocks[::-1]):
        power = np.eye(8, dtype=np.uint8)
        if not (order[0] == power).all():
            continue
        for block in order[1:]:
            power = ((step @ power) & 1).astype(np.uint8)
            if not (block == power).all():
                break
        else:
            return f"RAID-6 second parity of {len(blocks)} bytes (field polynomial 0x11d)"
    return None


def _register(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    """One step of a shift register: the matrix shifts, but for one feedback row or column."""
    width = len(rows)
    if rows.shape[1] != width or width < 3:
        return None
    for matrix, way in ((rows, "right"), (rows[::-1, ::-1], "left")):
        down = np.eye(width, k=-1, dtype=np.uint8)
        if (matrix[1:] == down[1:]).all() and matrix[0].sum() > 1:
            taps = sum(1 << (width - 1 - int(at)) for at in np.flatnonzero(matrix[0]))
            feedback = polynomial_text(taps | 1 << width)
            return f"one step of an LFSR (Fibonacci, shift {way}), polynomial {feedback}"
        if (matrix[:, :-1] == down[:, :-1]).all() and matrix[:, -1].sum() > 1:
            taps = sum(1 << (width - 1 - int(at)) for at in np.flatnonzero(matrix[:, -1]))
            feedback = polynomial_text(_reversed(taps | 1 << width, width))
            return f"one step of an LFSR (Galois, shift {way}), polynomial {feedback}"
    return None


def _reversed(value: int, degree: int) -> int:
    return int(format(value, f"0{degree + 1}b")[::-1], 2)


def _scrambler(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    """A self-synchronising scrambler: every output depends on earlier inputs alike."""
    width, before = len(rows), rows.shape[1] - len(rows)
    if width < 8 or before < 0 or used[:before].any():
        return None
    square = rows[:, before:]
    first = square[:, 0]
    same = all((np.diag(square, -lag) == first[lag]).all() for lag in range(width))
    if np.triu(square, 1).any() or not first[0] or first.sum() == 1 or not same:
        return None
    length, feedback = shortest_register(first.tolist())
    if 2 * length + 8 <= width:
        text = polynomial_text(_reversed(feedback, length))
        return f"a self-synchronising scrambler with polynomial {text}"
    if len(taps := np.flatnonzero(first)) <= 5:
        delays = ", ".join(str(int(lag)) for lag in taps[1:])
        return f"a descrambler: each bit XOR those {delays} places before"
    return None


def _hamming(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    columns = rows[:, used].T
    width, count = len(rows), int(used.sum())
    if width < 3 or len(np.unique(columns, axis=0)) < count:
        return None
    weights = columns.sum(axis=1)
    if weights.min() < 2 or count <= width - 1:
        return None
    if (weights % 2 == 1).all():
        return f"a single error correcting, double error detecting code ({count} data bits)"
    if count + width <= (1 << width) - 1 and count > (1 << (width - 1)) - width:
        return f"a Hamming code ({count + width}, {count})"
    return None
