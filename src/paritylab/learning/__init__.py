"""How it learns: losses, and the risk and its gradient by several routes."""

from paritylab.learning.anneal import AnnealedRuns, Annealing, anneal_heads
from paritylab.learning.chain import ChainRuns, teacher_gradient, train_chain
from paritylab.learning.enumeration import enumerated_gradient, enumerated_risk
from paritylab.learning.levels import LevelRun, train_levels
from paritylab.learning.losses import LOSSES, Loss, as_loss
from paritylab.learning.population import model_gradient, population_gradient, population_risk
from paritylab.learning.procedure import PRESETS, Procedure, preset, temperature
from paritylab.learning.risk import Risk, RiskGradient
from paritylab.learning.sampled import sampled_gradient, sampled_risk
from paritylab.learning.train import HeadRuns, random_targets, train_heads
from paritylab.learning.xor_step import XorRuns, train_xor
from paritylab.learning.xor_stream import StreamedStep, streamed_step

__all__ = [
    "LOSSES",
    "PRESETS",
    "AnnealedRuns",
    "Annealing",
    "ChainRuns",
    "HeadRuns",
    "LevelRun",
    "Loss",
    "Procedure",
    "Risk",
    "RiskGradient",
    "StreamedStep",
    "XorRuns",
    "anneal_heads",
    "as_loss",
    "enumerated_gradient",
    "enumerated_risk",
    "model_gradient",
    "population_gradient",
    "population_risk",
    "preset",
    "random_targets",
    "sampled_gradient",
    "sampled_risk",
    "streamed_step",
    "teacher_gradient",
    "temperature",
    "train_chain",
    "train_heads",
    "train_levels",
    "train_xor",
]
