"""Reads certificates and refuses, in one line, what is not one.

A certificate is a JSON file with `claim`, `setting` and `witness`. Its numbers are exact: integers
and rationals "p/q". The setting must be the statement's own and the witness must lie in the domains
that the statement names, whether the certificate comes from a file or from memory.
"""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from paritylab.proofs.domain import LONGEST, Domain, refuse_outside, shortened

#: Larger files are refused unread; deeper ones and longer numbers, too.
LARGEST_FILE, DEEPEST, LONGEST_NUMBER = 1 << 16, 6, 200
_RATIONAL = re.compile(r"-?\d+(/0*[1-9]\d*)?\Z", re.ASCII)


def read(path: str | Path) -> Any:
    """The content of a JSON file whose keys are unique and whose numbers are exact."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"no certificate at {path}")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{path.name}: a certificate has at most {LARGEST_FILE} bytes")
    try:
        return json.loads(
            path.read_text(encoding="utf-8"),
            parse_float=_inexact,
            parse_constant=_inexact,
            object_pairs_hook=_unique,
        )
    except (UnicodeDecodeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(f"{path.name}: not JSON: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def checked(
    content: Any, id: str, setting: Mapping[str, Any], domains: Mapping[str, Domain]
) -> dict[str, Any]:
    """The certificate with its numbers as integers and fractions.

    ValueError if it is another claim's, about another setting, or its witness is not in `domains`.
    """
    if not isinstance(content, dict) or set(content) != {"claim", "setting", "witness"}:
        raise ValueError("a certificate is an object with claim, setting and witness only")
    if content["claim"] != id:
        raise ValueError(f"the certificate is of {shortened(content['claim'])}, not of {id}")
    found, witness = exact(content["setting"]), exact(content["witness"])
    if found != exact(setting):
        raise ValueError(
            f"the statement is about {setting}, the certificate about {shortened(found)}"
        )
    refuse_outside(domains, witness)
    return {"claim": id, "setting": found, "witness": witness}


def _inexact(number: str) -> Any:
    raise ValueError(f'{number} is not exact; write "p/q" in quotes')


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{shortened(twice)!r} is given twice")
    return found


def exact(value: Any, depth: int = 0) -> Any:
    """Integers and rationals, in lists and objects."""
    if depth > DEEPEST:
        raise ValueError(f"nested deeper than {DEEPEST}")
    if isinstance(value, bool) or value is None:
        raise ValueError(f"expected a number, got {value}")
    if isinstance(value, int | Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > LONGEST:
            raise ValueError("a number is too long")
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, str):
        if len(value) > LONGEST_NUMBER:
            raise ValueError("a number is too long")
        if not _RATIONAL.match(value):
            raise ValueError(f'{value!r} is no exact number; expected "p/q"')
        return exact(Fraction(value))
    if isinstance(value, list | tuple):
        return [exact(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {str(name): exact(each, depth + 1) for name, each in value.items()}
    raise ValueError(f"expected a number, got {type(value).__name__}")
