"""What an XOR matrix is: a copy, a parity bit, an LFSR step, a scrambler, a Gray code.

One convention for polynomials: x^i is the bit i steps before. A self-synchronising scrambler with
x^7 + x^6 + 1 sends s_t = d_t + s_{t-6} + s_{t-7}; its descrambler gives s_t + s_{t-6} + s_{t-7}.
"""

import numpy as np

from xorfind.fields.polynomials import polynomial_text, shortest_register


def shape_name(rows: np.ndarray, constants: np.ndarray) -> str | None:
    """A name for a matrix, most significant output and first input first; None if it has none.

    rows: (w, n). constants: (w,). Inputs that no output uses do not count.
    """
    used: np.ndarray = np.asarray(rows.any(axis=0))
    if not used.any():
        return None
    name = _copy(rows, constants, used) or _parity_bit(rows, constants, used)
    return name or _register(rows, constants) or _filter(rows, constants, used)


def _copy(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    """The inputs themselves, XORed with a key or the output of a register."""
    if not (rows.sum(axis=1) == 1).all() or not (rows.sum(axis=0)[used] == 1).all():
        return None
    order = rows.argmax(axis=1)
    if not (np.diff(order) == 1).all() and len(order) > 1:
        return "a permutation of input bits" + _and_fixed(constants)
    if not constants.any():
        return "a copy of input bits"
    length, feedback = shortest_register(constants.tolist())
    if 2 * length + 8 > len(constants):
        return "input bits XOR a fixed key"
    return (
        "input bits XOR a fixed key: an additive scrambler, the key is an LFSR of "
        f"{length} bits with polynomial {polynomial_text(feedback)}"
    )


def _and_fixed(constants: np.ndarray) -> str:
    return " and a fixed XOR" if constants.any() else ""


def _parity_bit(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    if len(rows) != 1:
        return None
    kind = "odd" if constants[0] else "even"
    every = "all" if used.all() else f"{int(used.sum())} of {len(used)}"
    return f"a parity bit ({kind}) of {every} input bits"


def _register(rows: np.ndarray, constants: np.ndarray) -> str | None:
    """One step of a shift register: the matrix shifts, but for one feedback row or column.

    With feedback row r the new bit is u_t = Σ r_i u_{t-1-i}; with feedback column c the bit that is
    shifted out of w cells is u_t = Σ c_i u_{t-w+i}.
    """
    width = len(rows)
    if rows.shape[1] != width or width < 3:
        return None
    down = np.eye(width, k=-1, dtype=np.uint8)
    for matrix, way in ((rows, "right"), (rows[::-1, ::-1], "left")):
        kind, delays = "Fibonacci", np.flatnonzero(matrix[0]) + 1
        if (matrix[1:] != down[1:]).any():
            kind, delays = "Galois", width - np.flatnonzero(matrix[:, -1])
            if (matrix[:, :-1] != down[:, :-1]).any():
                continue
        if len(delays) > 1:
            feedback = polynomial_text(1 | sum(1 << delay for delay in delays.tolist()))
            text = f"one step of an LFSR ({kind}, shift {way}), polynomial {feedback}"
            return text + _and_fixed(constants)
    return None


def _filter(rows: np.ndarray, constants: np.ndarray, used: np.ndarray) -> str | None:
    """A sequence of bits through a filter: every output depends on earlier inputs alike.

    The response h to a single 1 says which: h = 1/P is a scrambler, a short h = P a descrambler.
    """
    from scipy.linalg import toeplitz

    width, before = len(rows), rows.shape[1] - len(rows)
    if width < 3 or before < 0 or used[:before].any():
        return None
    square = rows[:, before:]
    response = square[:, 0]
    if not response[0] or response.sum() == 1 or (square != toeplitz(response, 0 * response)).any():
        return None
    if not constants.any() and response.sum() == 2 and response[1]:
        return "the Gray code of input bits: each bit XOR the one before"
    if not constants.any() and response.all():
        return "the number whose Gray code the input bits are: each bit XOR all before"
    forward = sum(int(bit) << at for at, bit in enumerate(response))
    backward = _inverse(forward, width)
    for polynomial, what in (
        (backward, "a self-synchronising scrambler"),
        (forward, "a descrambler (of a self-synchronising scrambler)"),
    ):
        if 2 * (polynomial.bit_length() - 1) + 8 <= width:
            text = polynomial_text(polynomial)
            return f"{what} with polynomial {text}" + _and_fixed(constants)
    return None


def _inverse(series: int, terms: int) -> int:
    """1/series up to x^terms, for a series that begins with 1."""
    made, rest = 0, 1
    for at in range(terms):
        if rest >> at & 1:
            made |= 1 << at
            rest ^= series << at
    return made
