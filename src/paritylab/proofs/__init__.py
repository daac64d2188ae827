"""Proofs by computer: certificates, and a checker that shares no line with the engine it checks.

`verify(id)` proves one statement, `verified(id)` says whether it can be proved, `provable()`
lists them. python-flint is needed: pip install 'paritylab[proofs]'.
"""

from paritylab.proofs.checker import (
    Result as Result,
    expected_seconds as expected_seconds,
    load_certificate as load_certificate,
    missing_extra as missing_extra,
    provable as provable,
    settles as settles,
    title as title,
    verify as verify,
)
from paritylab.proofs.records import (
    files_of as files_of,
    provenance as provenance,
    record as record,
    verified as verified,
)
