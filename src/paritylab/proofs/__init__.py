"""Proofs by computer: certificates, and a checker that shares no line with the engine it checks.

`verify(id)` proves one statement, `verified(id)` says whether it can be proved, `provable()`
lists them. python-flint is needed: pip install 'paritylab[proofs]'.
"""

from paritylab.proofs.checker import (
    Result,
    expected_seconds,
    files_of,
    load_certificate,
    missing_extra,
    provable,
    provenance,
    record,
    settles,
    title,
    verified,
    verify,
)

__all__ = [
    "Result",
    "expected_seconds",
    "files_of",
    "load_certificate",
    "missing_extra",
    "provable",
    "provenance",
    "record",
    "settles",
    "title",
    "verified",
    "verify",
]
