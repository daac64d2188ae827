"""How it learns: one contract, and the learners that keep it."""

from paritylab.learning.chain.levels import Levels
from paritylab.learning.chain.published import FullBatch
from paritylab.learning.chain.teacher import TeacherStep, teacher_gradient
from paritylab.learning.descent import Descent
from paritylab.learning.hardness.hidden import Hidden
from paritylab.learning.heads.anneal import Annealed
from paritylab.learning.heads.temperature import temperature
from paritylab.learning.heads.train import Heads
from paritylab.learning.runs import (
    LEARNERS,
    AllInputs,
    Fresh,
    Population,
    Result,
    Rows,
    Runs,
    Sample,
    learn,
)
from paritylab.learning.xor.stream import StreamedStep, streamed_step
from paritylab.learning.xor.train import XorRuns, train_xor

__all__ = [
    "LEARNERS",
    "AllInputs",
    "Annealed",
    "Descent",
    "Fresh",
    "FullBatch",
    "Heads",
    "Hidden",
    "Levels",
    "Population",
    "Result",
    "Rows",
    "Runs",
    "Sample",
    "StreamedStep",
    "TeacherStep",
    "XorRuns",
    "learn",
    "streamed_step",
    "teacher_gradient",
    "temperature",
    "train_xor",
]
