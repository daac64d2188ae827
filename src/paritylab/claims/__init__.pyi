"""Names of paritylab.claims; `__init__.py` loads them from here on first use."""

from paritylab.claims.engine.figures import (
    Bars as Bars,
    Heatmap as Heatmap,
    Histogram as Histogram,
    Line as Line,
    Lines as Lines,
    Mark as Mark,
    SideBySide as SideBySide,
    in_tab as in_tab,
)
from paritylab.claims.engine.record import (
    derived as derived,
    drawn as drawn,
    record as record,
    shown as shown,
)
from paritylab.claims.engine.registry import (
    Claim as Claim,
    claim as claim,
    claims_from_file as claims_from_file,
    registry as registry,
)
from paritylab.claims.engine.running import (
    Trial as Trial,
    check as check,
)
from paritylab.claims.engine.sources import (
    BARAK as BARAK,
    DM as DM,
    HG1 as HG1,
    HG2 as HG2,
    KOU as KOU,
    KS as KS,
    OURS as OURS,
    PAPERS as PAPERS,
    Source as Source,
)
from paritylab.claims.engine.verdict import (
    Effort as Effort,
    Evidence as Evidence,
    Judged as Judged,
    Status as Status,
    Verdict as Verdict,
    corrected as corrected,
    holds as holds,
    refuted as refuted,
    undecided as undecided,
)
