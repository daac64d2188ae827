"""Public names of paritylab; `__init__.py` loads them from here on first use."""

from ._support.precision import (
    float64 as float64,
)
from .claims import (
    HG1 as HG1,
    HG2 as HG2,
    KS as KS,
    OURS as OURS,
    Trial as Trial,
    at_least as at_least,
    at_most as at_most,
    check as check,
    claim as claim,
    control as control,
    finding as finding,
    instead as instead,
    note as note,
    registry as registry,
    repair as repair,
    within as within,
)
from .learning import (
    Auto as Auto,
    Descent as Descent,
    FeedForwardNet as FeedForwardNet,
    Fresh as Fresh,
    FullBatch as FullBatch,
    Heads as Heads,
    HingeNet as HingeNet,
    Layers as Layers,
    Learner as Learner,
    Levels as Levels,
    OneStep as OneStep,
    Population as Population,
    Rows as Rows,
    Runs as Runs,
    Sample as Sample,
    TeacherStep as TeacherStep,
    Trained as Trained,
    Transformer as Transformer,
    learn as learn,
    register_learner as register_learner,
    streamed_step as streamed_step,
)
from .models import (
    Circle as Circle,
    FullFormAttention as FullFormAttention,
    HeadAttention as HeadAttention,
    PiecewiseLinear as PiecewiseLinear,
    Zigzag as Zigzag,
    parity_transformer as parity_transformer,
)
from .problem import (
    Corruption as Corruption,
    Junta as Junta,
    Loss as Loss,
    Parity as Parity,
    ParityTree as ParityTree,
    random_parities as random_parities,
    random_tree as random_tree,
    random_trees as random_trees,
    register_loss as register_loss,
    sample as sample,
    signs_from_bits as signs_from_bits,
)
from .risk import (
    enumerated_gradient as enumerated_gradient,
    enumerated_risk as enumerated_risk,
    population_gradient as population_gradient,
    population_risk as population_risk,
    sampled_risk as sampled_risk,
)
from .statistics import (
    Rate as Rate,
)

__version__: str
