"""How it learns: one contract, and the learners that keep it."""

from paritylab.learning.chain.full_batch import FullBatch
from paritylab.learning.chain.layers import Layers
from paritylab.learning.chain.levels import Levels
from paritylab.learning.chain.teacher import TeacherStep, teacher_gradient
from paritylab.learning.chain.wide import WideChain, wide_layers, wide_step
from paritylab.learning.contract import LEARNERS, Learner, Trained, register_learner
from paritylab.learning.data import AllInputs, Data, Fresh, Population, Rows, Sample
from paritylab.learning.hardness.hiding_oracle import HidingOracle
from paritylab.learning.hardness.recurrent import RecurrentNet
from paritylab.learning.heads.anneal import Annealed
from paritylab.learning.heads.one_step import OneStep
from paritylab.learning.heads.temperature import temperature
from paritylab.learning.heads.train import Heads
from paritylab.learning.neighbours.shallow_nets import HingeNet, SignDescent
from paritylab.learning.networks import Descent, FeedForwardNet, FrozenAttention
from paritylab.learning.rivals import (
    AttentionOnRows,
    Auto,
    Correlation,
    Elimination,
    MeetInTheMiddle,
    Restarts,
    Walsh,
)
from paritylab.learning.runs import Result, Runs, concatenate_runs, learn
from paritylab.learning.transformer.learner import Transformer
from paritylab.learning.xor.stream import StreamedStep, streamed_step
from paritylab.learning.xor.train import XorStep

__all__ = [
    "LEARNERS",
    "AllInputs",
    "Annealed",
    "AttentionOnRows",
    "Auto",
    "Correlation",
    "Data",
    "Descent",
    "Elimination",
    "FeedForwardNet",
    "Fresh",
    "FrozenAttention",
    "FullBatch",
    "Heads",
    "HidingOracle",
    "HingeNet",
    "Layers",
    "Learner",
    "Levels",
    "MeetInTheMiddle",
    "OneStep",
    "Population",
    "RecurrentNet",
    "Restarts",
    "Result",
    "Rows",
    "Runs",
    "Sample",
    "SignDescent",
    "StreamedStep",
    "TeacherStep",
    "Trained",
    "Transformer",
    "Walsh",
    "WideChain",
    "XorStep",
    "concatenate_runs",
    "learn",
    "register_learner",
    "streamed_step",
    "teacher_gradient",
    "temperature",
    "wide_layers",
    "wide_step",
]
