"""Public names of paritylab; `__init__.py` loads them from here on first use."""

from paritylab.claims import (
    HG1 as HG1,
    HG2 as HG2,
    KS as KS,
    OURS as OURS,
    Bars as Bars,
    Claim as Claim,
    Effort as Effort,
    Efforts as Efforts,
    Evidence as Evidence,
    Finding as Finding,
    Heatmap as Heatmap,
    Histogram as Histogram,
    Judged as Judged,
    Line as Line,
    Lines as Lines,
    Mark as Mark,
    SideBySide as SideBySide,
    Status as Status,
    Trial as Trial,
    Verdict as Verdict,
    check as check,
    claim as claim,
    claims_from_file as claims_from_file,
    corrected as corrected,
    holds as holds,
    refuted as refuted,
    registry as registry,
    undecided as undecided,
)
from paritylab.discovery import (
    Rule as Rule,
    discover as discover,
)
from paritylab.estimator import (
    ParityClassifier as ParityClassifier,
)
from paritylab.learning import (
    AllInputs as AllInputs,
    Annealed as Annealed,
    Descent as Descent,
    FeedForwardNet as FeedForwardNet,
    Fresh as Fresh,
    FrozenAttention as FrozenAttention,
    FullBatch as FullBatch,
    Heads as Heads,
    Hidden as Hidden,
    Levels as Levels,
    OneStep as OneStep,
    Population as Population,
    RecurrentNet as RecurrentNet,
    Result as Result,
    Rows as Rows,
    Runs as Runs,
    Sample as Sample,
    TeacherStep as TeacherStep,
    XorStep as XorStep,
    joined as joined,
    learn as learn,
    register as register,
    streamed_step as streamed_step,
    teacher_gradient as teacher_gradient,
)
from paritylab.models import (
    ChainModel as ChainModel,
    Circle as Circle,
    Cosine as Cosine,
    FeedForward as FeedForward,
    FullFormAttention as FullFormAttention,
    HeadAttention as HeadAttention,
    OneHot as OneHot,
    PiecewiseLinear as PiecewiseLinear,
    RandomSigns as RandomSigns,
    TwoHeads as TwoHeads,
    Zigzag as Zigzag,
    parity_network as parity_network,
    parity_transformer as parity_transformer,
)
from paritylab.precision import (
    float64 as float64,
)
from paritylab.problem import (
    LOSSES as LOSSES,
    Junta as Junta,
    Loss as Loss,
    Parity as Parity,
    ParityTree as ParityTree,
    all_bits as all_bits,
    as_bits as as_bits,
    batches as batches,
    bits_from_signs as bits_from_signs,
    random_junta as random_junta,
    random_parities as random_parities,
    random_parity as random_parity,
    random_tree as random_tree,
    random_trees as random_trees,
    sample as sample,
    signs_from_bits as signs_from_bits,
)
from paritylab.report import (
    write_report as write_report,
)
from paritylab.risk import (
    Risk as Risk,
    enumerated_gradient as enumerated_gradient,
    enumerated_risk as enumerated_risk,
    model_gradient as model_gradient,
    population_gradient as population_gradient,
    population_risk as population_risk,
    population_risks as population_risks,
    sampled_gradient as sampled_gradient,
    sampled_risk as sampled_risk,
)
from paritylab.solvers import (
    Answer as Answer,
    Auto as Auto,
    Correlation as Correlation,
    Elimination as Elimination,
    Meeting as Meeting,
    Restarts as Restarts,
    Walsh as Walsh,
    contradicting_rows as contradicting_rows,
    detectable_noise as detectable_noise,
    rows_needed as rows_needed,
    solution_spaces as solution_spaces,
    solve as solve,
)
from paritylab.statistics import (
    Rate as Rate,
)

__version__: str
