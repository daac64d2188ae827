"""Several XORs at once: fields, frames and groups explained bit by bit, named, and turned to code.

`read_fields` reads frames or a table, `FieldTable.select` names bits, `hunt` explains a field,
`shared_functions` finds what groups without labels share.
"""

from paritylab.discovery.fields.groups import Functions, set_differences, shared_functions
from paritylab.discovery.fields.hunt import Finding, Outcome, hunt
from paritylab.discovery.fields.matrix import Comparison, XorMatrix
from paritylab.discovery.fields.reading import read_fields

__all__ = [
    "Comparison",
    "Finding",
    "Functions",
    "Outcome",
    "XorMatrix",
    "hunt",
    "read_fields",
    "set_differences",
    "shared_functions",
]
