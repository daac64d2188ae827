"""Polynomials over GF(2) as Python integers: bit i is the coefficient of x^i."""

from collections.abc import Sequence
from itertools import combinations


def remainder(value: int, modulus: int) -> int:
    """value mod modulus.

    >>> bin(remainder(0b1101, 0b101))
    '0b10'
    """
    top = modulus.bit_length()
    while value.bit_length() >= top:
        value ^= modulus << (value.bit_length() - top)
    return value


def quotient(value: int, modulus: int) -> int:
    """value divided by modulus, the remainder dropped."""
    top, made = modulus.bit_length(), 0
    while value.bit_length() >= top:
        shift = value.bit_length() - top
        made |= 1 << shift
        value ^= modulus << shift
    return made


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


def power_of_x(exponent: int, modulus: int) -> int:
    """x^exponent mod modulus, by squaring."""
    made, base = 1, remainder(2, modulus)
    while exponent:
        if exponent & 1:
            made = remainder(product(made, base), modulus)
        base, exponent = remainder(product(base, base), modulus), exponent >> 1
    return made


def factors(value: int, limit: int) -> list[int]:
    """Irreducible factors of degree up to `limit`, with repetition, found by trial of small
    degrees and by x^(2^d) - x for the others; the rest, if any, comes last.

    >>> [bin(each) for each in factors(0b110011, 8)]
    ['0b11', '0b11', '0b11', '0b11', '0b11']
    """
    found: list[int] = []
    while value > 1 and not value & 1:
        found.append(2)
        value >>= 1
    degree = 1
    while value.bit_length() - 1 >= 2 * degree and degree <= limit:
        part = common_divisor(value, _frobenius(degree, value) ^ 2)
        while part > 1:
            for each in _equal_degree(part, degree):
                while remainder(value, each) == 0:
                    found.append(each)
                    value = quotient(value, each)
            part = common_divisor(value, _frobenius(degree, value) ^ 2) if value > 1 else 1
        degree += 1
    return found + ([value] if value > 1 else [])


def _frobenius(degree: int, modulus: int) -> int:
    """x^(2^degree) mod modulus."""
    made = remainder(2, modulus)
    for _ in range(degree):
        made = remainder(product(made, made), modulus)
    return made


def _equal_degree(value: int, degree: int) -> list[int]:
    """The factors of a product of different irreducible polynomials of one degree, by traces."""
    if value.bit_length() - 1 <= degree:
        return [value] if value.bit_length() - 1 == degree else []
    for start in range(2, 1 << 12):
        trace = term = remainder(start, value)
        for _ in range(degree - 1):
            term = remainder(product(term, term), value)
            trace ^= term
        part = common_divisor(value, trace)
        if 1 < part < value:
            return _equal_degree(part, degree) + _equal_degree(quotient(value, part), degree)
    return [value]


def divisors_of_degree(value: int, degree: int, most: int = 64) -> list[int]:
    """Divisors of one degree with a constant term, as products of factors."""
    if value.bit_length() - 1 == degree:
        return [value] if value & 1 else []
    parts = [each for each in factors(value, degree) if each & 1]
    if len(parts) > 14:
        return []
    found: set[int] = set()
    for size in range(1, len(parts) + 1):
        for chosen in combinations(parts, size):
            if sum(each.bit_length() - 1 for each in chosen) == degree:
                made = 1
                for each in chosen:
                    made = product(made, each)
                found.add(made)
    return sorted(found)[:most]


def shortest_register(bits: Sequence[int]) -> tuple[int, int]:
    """Berlekamp and Massey: length and feedback polynomial of the shortest LFSR of a sequence.

    The polynomial is Σ c_i x^i with c_0 = 1 and s_t = Σ_{i≥1} c_i s_{t-i}.

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
