"""Several XORs at once: fields, frames and groups explained bit by bit, named, and turned to code.

`read_fields` reads frames or a table, `hunt` explains a field of it, `shared_functions` finds what
groups without labels share.
"""

from xorfind.fields.groups import Functions, set_differences, shared_functions
from xorfind.fields.hunt import Finding, Outcome, hunt
from xorfind.fields.matrix import XorMatrix
from xorfind.fields.reading import read_fields

__all__ = [
    "Finding",
    "Functions",
    "Outcome",
    "XorMatrix",
    "hunt",
    "read_fields",
    "set_differences",
    "shared_functions",
]
