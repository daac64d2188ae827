"""One step of k heads: what every setting of `Heads` does to them, inside the compiled loop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.contract import LossPart, OptimiserPart
from paritylab.learning.data import Data
from paritylab.learning.descent import as_optimiser
from paritylab.learning.heads.moves import EVERY, LAST, Attended, relocate
from paritylab.learning.heads.objective import GUARDED, at_angles
from paritylab.learning.objective import ExactRisk, Objective, StepRisk
from paritylab.learning.stepwise import RunKeys, Size, update
from paritylab.models import AbstractPositionCode, HeadAttention
from paritylab.problem import as_loss
from paritylab.problem.losses import LOSSES

#: Kicks end after this share of the steps.
CALM = 0.9


class Start(NamedTuple):
    """What was drawn for a run: what trains, and the run's own position code, if it has one."""

    parameters: PyTree
    code: AbstractPositionCode | None = None


class HeadState(NamedTuple):
    """A run on its way. parameters: what trains, angles for unit heads. memory: of the optimiser.
    moved: moves taken. code: gives the run's own positions, which no loop carries."""

    parameters: PyTree
    memory: PyTree
    moved: Array
    code: Callable[[], AbstractPositionCode | None]


class UnitHeads(eqx.Module):
    """Heads whose directions are (sin θ, cos θ): their angles θ train."""

    angles: Float[AnyArray, " heads"]
    heads: HeadAttention

    def parameters(self) -> AnyArray:
        """θ of every head."""
        return self.angles

    def with_parameters(self, parameters: AnyArray) -> "UnitHeads":
        """The same heads at other angles."""
        return UnitHeads(parameters, self.heads)

    def turned(self) -> HeadAttention:
        """The heads by their directions."""
        return at_angles(self.heads, jnp.asarray(self.angles))

    def weights(self) -> Float[Array, " n"]:
        """The weight of every bit."""
        return self.turned().weights()

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        return self.turned()(bits)


class HeadSteps(eqx.Module):
    """Settings of `Heads` met with data: every number known, an iterative learner.

    like: the heads, with placeholders for what trains. taus: temperature of every step and at the
    end; where it falls geometrically, at the start and at the end. eta, jitter: step size and kick;
    of unit heads in units of a head's width √τ. attempt: which start of its runs it is. unit: heads
    stay unit directions. tries: moves compared. exact, correlation: risks over all inputs in closed
    form. knows: whether a run measures its own correlation at the end.
    """

    like: HeadAttention
    taus: Float[AnyArray, " temperatures"]
    eta: AnyArray
    jitter: AnyArray
    attempt: AnyArray
    rule: OptimiserPart = eqx.field(static=True)
    loss: LossPart = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    batch: int | None = eqx.field(static=True)
    unit: bool = eqx.field(static=True)
    tries: int = eqx.field(static=True)
    exact: ExactRisk | None = eqx.field(static=True)
    correlation: ExactRisk | None = eqx.field(static=True)
    knows: bool = eqx.field(static=True)
    changes: bool = eqx.field(static=True)
    geometric: bool = eqx.field(static=True)

    def exact_risk(self, data: Data) -> ExactRisk | None:
        """The closed form, where there is one."""
        return self.exact

    def objective(self, data: Data) -> Objective:
        """The loss on the data; of unit heads one that is finite where they know nothing."""
        loss = as_loss(self.loss)
        if self.unit and loss == LOSSES["log_correlation"]:
            loss = GUARDED
        found = Objective.of(data, loss, self.batch, self.exact)
        return found._replace(in_pieces=not self.unit)

    def keys_of(self, key: jax.Array) -> RunKeys:
        """Keys of a run; unit heads that start again draw anew, on the same rows."""
        if self.unit:
            start, steps = jax.random.split(jax.random.fold_in(key, 100 + self.attempt))
            return RunKeys(start, jax.random.fold_in(key, 2), steps)
        rows, steps = jax.random.split(jax.random.fold_in(key, 2))
        return RunKeys(jax.random.split(key)[1], rows, steps)

    def init(self, start: Any, target: Size) -> HeadState:
        """start: a key, or what was drawn: parameters and the arrays of the position code."""
        if isinstance(start, Start):
            parameters, code = start
        else:
            # Evenly spaced at a random rotation: the heads see the whole circle between them.
            heads = self.like.directions.shape[0]
            turn = jax.random.uniform(start, (1,), jnp.float64, 0, 2 * jnp.pi)
            parameters, code = turn + 2 * jnp.pi * jnp.arange(heads) / heads, None
        memory = self._rule().init(parameters)
        return HeadState(parameters, memory, jnp.zeros((), jnp.int32), lambda: code)

    def model(self, state: HeadState, target: Size) -> HeadAttention | UnitHeads:
        """The heads at the last temperature; unit heads train their angles."""
        heads = self._heads(state.code(), self.taus[-1])
        if self.unit:
            return UnitHeads(state.parameters, heads)
        return heads.with_parameters(state.parameters)

    def step(self, state: HeadState, risk: StepRisk, key: jax.Array) -> tuple[HeadState, Array]:
        """A step of the optimiser; unit heads may be kicked, and one of them moved."""
        heads = self._heads(state.code(), self._tau(risk.number))
        if self.unit:
            return self._unit_step(state, UnitHeads(state.parameters, heads), risk, key)
        model = heads.with_parameters(state.parameters)
        value, gradient = risk(model)
        parameters, memory = update(
            self._rule(), risk, value, gradient, state.parameters, state.memory, model=model
        )
        return state._replace(parameters=parameters, memory=memory), value

    def finish(self, state: HeadState, risk: StepRisk) -> dict[str, Array]:
        """|E[yŷ]| at the last temperature, by which a run knows whether it is right."""
        if not self.knows:
            return {}
        model = self.model(state, Size(self.like.code.n, self.like.k))
        if risk.objective.loss == GUARDED:
            correlation = jnp.exp(-risk.of(model))
        else:
            correlation = jnp.abs(risk.with_loss("correlation", self.correlation).of(model))
        return {"correlation": correlation, "moves": state.moved}

    def _tau(self, number: Array | int) -> AnyArray:
        if self.geometric:
            # Every halving of the temperature takes equally many steps, so a head narrows by the
            # same factor per step from the whole circle down to less than one position.
            first, last = self.taus
            falling: Array = first * (last / first) ** (number / self.steps)
            return falling
        return self.taus[number] if self.changes else self.taus[-1]

    def _rule(self) -> optax.GradientTransformationExtraArgs:
        return optax.with_extra_args_support(as_optimiser(self.rule, self.eta))

    def _heads(self, code: PyTree, tau: AnyArray) -> HeadAttention:
        like = self.like if code is None else eqx.tree_at(lambda m: m.code, self.like, code)
        heads: HeadAttention = eqx.tree_at(lambda m: m.tau, like, tau)
        return heads

    def _unit_step(
        self, state: HeadState, model: "UnitHeads", risk: StepRisk, key: jax.Array
    ) -> tuple[HeadState, Array]:
        """Lengths are in units of a head's angular width, so nothing depends on the size."""
        train, judge = risk.halves() if self.tries else (risk, risk)
        angles, tau, time = state.parameters, model.heads.tau, risk.number / self.steps

        def risk_and_attention(angles: Array) -> tuple[Array, Array]:
            attention = at_angles(model.heads, angles).attention()
            return train.of(Attended.by(model.heads, attention)), attention

        (value, attention), gradient = jax.value_and_grad(risk_and_attention, has_aux=True)(angles)
        # Where a correlation vanishes its logarithm has no slope; such a head waits for a kick.
        gradient = jnp.nan_to_num(gradient)
        more = {"value": value, "grad": gradient, "value_fn": lambda at: risk_and_attention(at)[0]}
        moves, memory = self._rule().update(gradient, state.memory, angles, **more)
        noise = jax.random.normal(key, angles.shape, jnp.float64)
        # A head's attention falls off like exp(-(θ-φ)²/2τ): √τ is its angular width.
        width = jnp.sqrt(jnp.minimum(tau, 1.0))
        after = angles + width * (self.jitter * noise * (time < CALM) + moves)
        stayed = after, memory, state.moved
        if not self.tries:
            return HeadState(*stayed, state.code), value

        def relocated() -> tuple[PyTree, PyTree, Array]:
            before = value if judge is train else judge.of(Attended.by(model.heads, attention))
            move_key = jax.random.fold_in(key, 1)
            head, place, does = relocate(
                model.heads, judge, before, attention, angles, move_key, tries=self.tries
            )
            at = (jnp.arange(len(angles)) == head) & does

            def forget(leaf: Array) -> Array:
                """A head that jumps keeps no momentum from where it was."""
                return jnp.where(at, 0.0, leaf) if jnp.shape(leaf) == at.shape else leaf

            return jnp.where(at, place, after), jax.tree.map(forget, memory), state.moved + does

        due = (risk.number % EVERY == 0) & (time < LAST)
        angles, memory, moved = jax.lax.cond(due, relocated, lambda: stayed)
        return HeadState(angles, memory, moved, state.code), value
