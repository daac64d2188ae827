"""How it learns: losses, and the risk and its gradient by several routes."""

from paritylab.learning.enumeration import enumerated_gradient, enumerated_risk
from paritylab.learning.losses import LOSSES, Loss, as_loss
from paritylab.learning.population import model_gradient, population_gradient, population_risk
from paritylab.learning.risk import Risk, RiskGradient
from paritylab.learning.sampled import sampled_gradient, sampled_risk

__all__ = [
    "LOSSES",
    "Loss",
    "Risk",
    "RiskGradient",
    "as_loss",
    "enumerated_gradient",
    "enumerated_risk",
    "model_gradient",
    "population_gradient",
    "population_risk",
    "sampled_gradient",
    "sampled_risk",
]
