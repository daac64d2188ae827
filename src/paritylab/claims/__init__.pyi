"""Names of paritylab.claims; `__init__.py` loads them from here on first use."""

from .engine.registry import (
    Claim as Claim,
    claim as claim,
    claims_from_file as claims_from_file,
    registry as registry,
)
from .engine.rule import (
    Comparison as Comparison,
    Decision as Decision,
    at_least as at_least,
    at_most as at_most,
    control as control,
    decide as decide,
    finding as finding,
    instead as instead,
    note as note,
    repair as repair,
    within as within,
)
from .engine.running import (
    Trial as Trial,
    check as check,
)
from .engine.verdict import (
    DM as DM,
    HG1 as HG1,
    HG2 as HG2,
    KS as KS,
    OURS as OURS,
    PAPERS as PAPERS,
    Effort as Effort,
    Evidence as Evidence,
    Source as Source,
    Status as Status,
    Verdict as Verdict,
)
