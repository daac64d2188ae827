"""How wrong a model is: one front door, one table of routes, and siblings that check it."""

from paritylab.risk.population import (
    Risks,
    model_gradient,
    population_gradient,
    population_risk,
    population_risks,
)
from paritylab.risk.result import Risk, RiskGradient
from paritylab.risk.rows import enumerated_gradient, enumerated_risk, sampled_risk

__all__ = [
    "Risk",
    "RiskGradient",
    "Risks",
    "enumerated_gradient",
    "enumerated_risk",
    "model_gradient",
    "population_gradient",
    "population_risk",
    "population_risks",
    "sampled_risk",
]
