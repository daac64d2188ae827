"""Classical solvers: which columns' parity is the label, how sure, or why nothing can be said."""

from paritylab.solvers.answer import Answer
from paritylab.solvers.elimination import Solutions, contradicting_rows, solution_spaces
from paritylab.solvers.learners import (
    AttentionOnRows,
    Auto,
    Correlation,
    Elimination,
    MeetInTheMiddle,
    Restarts,
    Walsh,
)
from paritylab.solvers.outcome import Conclusion, Search, Size, Step, Stop
from paritylab.solvers.power import detectable_noise, rows_needed, support_power
from paritylab.solvers.solving import METHODS, solve

__all__ = [
    "METHODS",
    "Answer",
    "AttentionOnRows",
    "Auto",
    "Conclusion",
    "Correlation",
    "Elimination",
    "MeetInTheMiddle",
    "Restarts",
    "Search",
    "Size",
    "Solutions",
    "Step",
    "Stop",
    "Walsh",
    "contradicting_rows",
    "detectable_noise",
    "rows_needed",
    "solution_spaces",
    "solve",
    "support_power",
]
