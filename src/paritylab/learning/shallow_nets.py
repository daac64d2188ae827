"""The two-layer nets of the neighbours: online SGD on the hinge loss, and sign descent with z^k."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from annotated_doc import Doc
from annotated_types import Ge, Gt, Le
from jaxtyping import Array, PyTree

from paritylab.learning.contract import register_learner
from paritylab.learning.data import (
    Data,
    Fresh,
    Population,
    Target,
    Unknown,
    are_uniform,
    parities_of,
)
from paritylab.learning.networks import Network
from paritylab.learning.objective import ExactRisk, Objective
from paritylab.learning.stepwise import Size
from paritylab.models.feedforward import FeedForward
from paritylab.options import Choice
from paritylab.risk.objective import Target as Arrays

#: A setting, or its value inside compiled code.
Number: TypeAlias = float | Array
#: These nets are wide, and their runs many: fewer strings judge them than other models.
JUDGED_BY = (14, 8192)


def sign_rule(eta: Number, decay: Number, dead: Number) -> optax.GradientTransformation:
    """Sign descent: w ← (1 - eta·decay)·w - eta·sign(∇), with sign = 0 where |∇| < dead."""

    def update(gradient: PyTree, state: PyTree, weights: PyTree = None) -> tuple[PyTree, PyTree]:
        def one(slope: Array, weight: Array) -> Array:
            move = jnp.where(jnp.abs(slope) < dead, 0, jnp.sign(slope))
            return -eta * (decay * weight + move)

        return jax.tree.map(one, gradient, weights), state

    return optax.GradientTransformation(lambda _: optax.EmptyState(), update)


@register_learner("hinge-net")
@dataclass(frozen=True, eq=False)
class HingeNet(Network[FeedForward]):
    """Two layers of `width` neurons on ±1 inputs, SGD on the hinge loss with L2 decay.

    activation: "relu" starts uniform in ±1/√fan-in; "clipped" starts antisymmetric, ŷ = 0. start:
    the hidden weights drawn are multiplied by it.
    mixture: share of the rows in which all bits of the hidden set share one fair sign (D_A of
    Daniely and Malach at ½); the others follow the data. shared_first: share of the steps, at the
    start, whose rows are all of that kind. frozen: the hidden layer stays as drawn.

    Presets: `HingeNet.barak()`, `HingeNet.daniely_malach()`. The batch is that of `Fresh`. A run is
    judged on the data's own inputs, without the mixture.

    >>> from paritylab import Fresh, Parity, learn
    >>> runs = learn(HingeNet(64, steps=400), Fresh(Parity(10, (1, 4)), 32), runs=4)
    >>> runs.rate().successes
    4
    """

    width: Annotated[int, Ge(1), Doc("Hidden neurons.")] = 1000
    activation: Annotated[str, Choice(("relu", "clipped")), Doc("Kind of neuron.")] = "relu"
    start: Annotated[float, Gt(0), Doc("Factor of the hidden weights at the start.")] = 1.0
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.1
    decay: Annotated[float, Ge(0), Doc("L2 decay of all weights.")] = 0.01
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 5000
    mixture: Annotated[float, Ge(0), Le(1), Doc("Share of rows whose hidden bits agree.")] = 0.0
    shared_first: Annotated[float, Ge(0), Le(1), Doc("Share of steps, at first, on such.")] = 0.0
    frozen: Annotated[bool, Doc("Keep the hidden layer as drawn.")] = False

    takes = (Fresh,)
    trains_on: ClassVar = {"n": 12, "k": 2, "runs": 5}
    loss = "hinge"
    judged_by = JUDGED_BY

    @classmethod
    def barak(cls, **changes: Any) -> "HingeNet":
        """Barak et al.: ReLU, width 1000, rate 0.1, decay 0.01, with `Fresh(…, 32)`."""
        return cls(**changes)

    @classmethod
    def daniely_malach(cls, **changes: Any) -> "HingeNet":
        """Daniely and Malach: clipped ReLU, antisymmetric start, D_A; sizes and rate are ours."""
        theirs = cls(activation="clipped", mixture=0.5)
        ours = replace(theirs, width=128, start=0.1, eta=0.5, decay=1e-3, steps=1000)
        return replace(ours, **changes)

    def draw(self, key: jax.Array, target: Target | Unknown) -> FeedForward:
        clipped = self.activation == "clipped"
        make = FeedForward.antisymmetric if clipped else FeedForward.uniform
        net = make(key, target.n, self.width)
        net = replace(net, hidden=self.start * np.asarray(net.hidden))
        return replace(net, trains=("output", "offset")) if self.frozen else net

    def rule(self, target: Size) -> optax.GradientTransformation:
        """w ← w - eta·(∇ + decay·w)."""
        return optax.chain(optax.add_decayed_weights(self.decay), optax.sgd(self.eta))

    def objective(self, data: Data) -> Objective:
        first = np.arange(self.steps) < round(self.shared_first * self.steps)
        shares = np.where(first, 1.0, self.mixture)
        return super().objective(data)._replace(mixture=shares if shares.any() else None)


@register_learner("sign-descent")
@dataclass(frozen=True, eq=False)
class SignDescent(Network[FeedForward]):
    """The net of Kou, Chen, Gu and Kakade: sign descent with z^k on -yŷ.

    ŷ = Σ_r a_r (w_rᵀx)^k with a_r = ±1 fixed and w_r(0) of fair signs.

    w ← (1 - eta·decay)·w - eta·sign(∇), with sign = 0 where |∇| < threshold·k!; k! is the gradient
    of a fresh neuron on the hidden set. With decay 1 the weights forget their start like
    (1 - eta)^t, and only what keeps a sign above the dead zone stays. width: neurons, 16·2^k if
    None. `Fresh(…, N)` draws N rows per step; `Population` has the mean in closed form.

    >>> from paritylab import Population, learn, random_parities
    >>> learn(SignDescent(), Population(random_parities(30, 3, runs=4))).rate().successes
    4
    """

    width: Annotated[int | None, Ge(1), Doc("Neurons; 16·2^k if absent.")] = None
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.1
    decay: Annotated[float, Ge(0), Doc("L2 decay of the weights.")] = 1.0
    threshold: Annotated[float, Ge(0), Doc("Dead zone of the sign, in units of k!.")] = 0.1
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 40

    takes = (Population, Fresh)
    closed = True
    targets = ("parity",)
    trains_on: ClassVar = {"n": 12, "k": 3}
    loss = "correlation"
    judged_by = JUDGED_BY

    @classmethod
    def kou(cls, **changes: Any) -> "SignDescent":
        """Kou et al.: decay 1, dead zone 0.1·k! (recalled); rate, steps and width are ours."""
        return cls(**changes)

    def draw(self, key: jax.Array, target: Target | Unknown) -> FeedForward:
        k = target.k or 1
        return FeedForward.powers(key, target.n, self.width or 16 * 2**k, k)

    def rule(self, target: Size) -> optax.GradientTransformation:
        return sign_rule(self.eta, self.decay, self.threshold * math.factorial(target.k or 1))

    def objective(self, data: Data) -> Objective:
        assert isinstance(data, Population | Fresh)
        parities_of(data, "sign descent with z^k")
        if data.k < 2 or not are_uniform(data):
            raise ValueError("sign descent with z^k learns a Parity of k ≥ 2 fair bits")
        return super().objective(data)

    def exact_risk(self, data: Data) -> ExactRisk:
        return power_risk


def power_risk(net: FeedForward, target: Arrays) -> Array:
    """-E[yŷ] of ŷ = Σ_r a_r (w_rᵀx)^k over fair bits, k the size of B.

    Of the k-th power only the product of all k hidden signs survives, k! times, so E[yŷ] =
    k!·Σ_r a_r Π_{i∈B} w_ri: the gradient is k!·a_r Π_{i∈B, i≠j} w_ri on j ∈ B and 0 elsewhere.
    """
    hidden = jnp.where(jnp.asarray(target.indicator) > 0, jnp.asarray(net.hidden), 1.0)
    mean = jnp.asarray(net.output) @ jnp.prod(hidden, axis=1)
    return -jnp.asarray(target.contrast) * math.factorial(net.power) * mean
