"""Proofs by computer: certificates, and a checker that shares no line with the engine it checks.

`verify(id)` proves one statement, `verified(id)` says whether it can be proved, `provable()`
lists them. python-flint is needed: pip install 'paritylab[proofs]'.
"""

from paritylab.proofs.checker import (
    Result as Result,
    expected_seconds as expected_seconds,
    files_of as files_of,
    load_certificate as load_certificate,
    missing_extra as missing_extra,
    provable as provable,
    provenance as provenance,
    record as record,
    settles as settles,
    title as title,
    verified as verified,
    verify as verify,
)
