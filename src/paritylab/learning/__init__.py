"""How it learns: losses, and the risk and its gradient by several routes."""

from paritylab.learning.chain.levels import LevelRun, train_levels
from paritylab.learning.chain.teacher import ChainRuns, teacher_gradient, train_chain
from paritylab.learning.heads.anneal import AnnealedRuns, Annealing, anneal_heads
from paritylab.learning.heads.procedure import PRESETS, Procedure, preset, temperature
from paritylab.learning.heads.train import HeadRuns, random_targets, train_heads
from paritylab.learning.xor.stream import StreamedStep, streamed_step
from paritylab.learning.xor.train import XorRuns, train_xor

__all__ = [
    "PRESETS",
    "AnnealedRuns",
    "Annealing",
    "ChainRuns",
    "HeadRuns",
    "LevelRun",
    "Procedure",
    "StreamedStep",
    "XorRuns",
    "anneal_heads",
    "preset",
    "random_targets",
    "streamed_step",
    "teacher_gradient",
    "temperature",
    "train_chain",
    "train_heads",
    "train_levels",
    "train_xor",
]
