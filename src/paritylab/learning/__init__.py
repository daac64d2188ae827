"""How it learns: one contract, and the learners that keep it."""

from paritylab.learning.chain.full_batch import FullBatch as FullBatch
from paritylab.learning.chain.layers import Layers as Layers
from paritylab.learning.chain.levels import Levels as Levels
from paritylab.learning.chain.teacher import (
    TeacherStep as TeacherStep,
    teacher_gradient as teacher_gradient,
)
from paritylab.learning.chain.wide import (
    WideChain as WideChain,
    wide_layers as wide_layers,
    wide_step as wide_step,
)
from paritylab.learning.classical_solvers import (
    Auto as Auto,
    Correlation as Correlation,
    Elimination as Elimination,
)
from paritylab.learning.contract import (
    LEARNERS as LEARNERS,
    BaseLearner as BaseLearner,
    Learner as Learner,
    Trained as Trained,
    register_learner as register_learner,
)
from paritylab.learning.data import (
    Data as Data,
    Fresh as Fresh,
    Population as Population,
    Rows as Rows,
    Sample as Sample,
)
from paritylab.learning.hardness.oracles import HidingOracle as HidingOracle
from paritylab.learning.heads.one_step import OneStep as OneStep
from paritylab.learning.heads.temperature import temperature as temperature
from paritylab.learning.heads.train import Heads as Heads
from paritylab.learning.networks import (
    Descent as Descent,
    FeedForwardNet as FeedForwardNet,
    FrozenAttention as FrozenAttention,
    RecurrentNet as RecurrentNet,
)
from paritylab.learning.runs import (
    Result as Result,
    Runs as Runs,
    concatenate_runs as concatenate_runs,
    learn as learn,
)
from paritylab.learning.shallow_nets import HingeNet as HingeNet, SignDescent as SignDescent
from paritylab.learning.transformer.learner import Transformer as Transformer
from paritylab.learning.xor.stream import (
    StreamedStep as StreamedStep,
    streamed_step as streamed_step,
)
