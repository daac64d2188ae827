"""Polynomials over GF(2) as Python integers: bit i is the coefficient of x^i."""

from collections.abc import Sequence

#: Degree of a common divisor beyond the wanted one that is still taken apart.
ROOM = 12


def divided(value: int, modulus: int) -> tuple[int, int]:
    """Quotient and remainder.

    >>> [bin(each) for each in divided(0b1101, 0b101)]
    ['0b11', '0b10']
    """
    top, made = modulus.bit_length(), 0
    while (shift := value.bit_length() - top) >= 0:
        made |= 1 << shift
        value ^= modulus << shift
    return made, value


def remainder(value: int, modulus: int) -> int:
    """value mod modulus."""
    return divided(value, modulus)[1]


def product(first: int, second: int) -> int:
    """first·second."""
    made = 0
    while second:
        if second & 1:
            made ^= first
        first, second = first << 1, second >> 1
    return made


def common_divisor(first: int, second: int) -> int:
    """Greatest common divisor."""
    while second:
        first, second = second, remainder(first, second)
    return first


def powers_of_x(count: int, modulus: int) -> list[int]:
    """1, x, x², … mod modulus.

    >>> [bin(power) for power in powers_of_x(4, 0b1011)]
    ['0b1', '0b10', '0b100', '0b11']
    """
    made, top = [1], modulus.bit_length()
    while len(made) < count:
        term = made[-1] << 1
        made.append(term ^ modulus if term.bit_length() == top else term)
    return made


def over_x(value: int, times: int, modulus: int) -> int:
    """value / x^times mod a modulus with a constant term."""
    for _ in range(times):
        value = (value ^ modulus if value & 1 else value) >> 1
    return value


def divisors_of_degree(value: int, degree: int) -> list[int]:
    """Divisors of one degree with a constant term: every small cofactor is tried.

    >>> 0b1011 in divisors_of_degree(product(0b1011, 0b11010), 3)
    True
    """
    value >>= (value & -value).bit_length() - 1  # factors x are no part of a generator
    extra = value.bit_length() - 1 - degree
    if not 0 <= extra <= ROOM:
        return []
    pairs = (divided(value, cofactor) for cofactor in range(1 << extra | 1, 2 << extra, 2))
    return sorted(quotient for quotient, rest in pairs if not rest)


def shortest_register(bits: Sequence[int]) -> tuple[int, int]:
    """Berlekamp and Massey: length and feedback polynomial of the shortest LFSR of a sequence.

    The polynomial is Σ c_i x^i with c_0 = 1 and s_t = Σ_{i≥1} c_i s_{t-i}: x^i is a delay of i.

    >>> length, feedback = shortest_register([1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1])
    >>> length, bin(feedback)
    (3, '0b1101')
    """
    current, previous, length, gap = 1, 1, 0, 1
    past = 0  # bit i: the value i steps ago
    for at, bit in enumerate(bits):
        past = (past << 1) | int(bit)
        if (current & past).bit_count() & 1:
            kept = current
            current ^= previous << gap
            if 2 * length <= at:
                length, previous, gap = at + 1 - length, kept, 0
        gap += 1
    return length, current


def polynomial_text(value: int) -> str:
    """A polynomial in words.

    >>> polynomial_text(0b10011)
    'x^4 + x + 1'
    """
    names = {0: "1", 1: "x"}
    terms = [names.get(at, f"x^{at}") for at in range(value.bit_length()) if value >> at & 1]
    return " + ".join(reversed(terms)) or "0"
