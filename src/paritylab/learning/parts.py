"""What a user may give where a learner expects a part: its name, or one of one's own."""

from collections.abc import Callable
from typing import TypeAlias

import jax
import optax
from jaxtyping import Array

from paritylab.models.attention import Kind
from paritylab.models.links import AbstractLink
from paritylab.models.protocol import Model
from paritylab.models.readouts import Readout
from paritylab.problem import Loss

#: φ of a chain, an even function of t.
LinkPart: TypeAlias = str | AbstractLink | Callable[[Array], Array]
#: A loss, or a function of y and ŷ.
LossPart: TypeAlias = str | Loss | Callable[[Array, Array], Array]
#: From the attended sum to ŷ.
ReadoutPart: TypeAlias = str | Readout
#: How scores become weights, a function over the last axis.
AttentionPart: TypeAlias = str | Kind
#: An optimiser by name, or ready from optax.
OptimiserPart: TypeAlias = str | optax.GradientTransformation
#: A model, the start of every run, or a function from a key to one.
ModelPart: TypeAlias = Model | Callable[[jax.Array], Model]
