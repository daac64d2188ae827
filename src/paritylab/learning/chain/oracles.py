"""Gradient oracles with a bounded error: what a learner is told instead of its gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge
from jaxtyping import Array, Float, Int

from paritylab._support.precision import AnyArray
from paritylab.learning.saving import savable
from paritylab.options import check_settings, options_of

Gradient = Float[Array, "..."]


class Query(NamedTuple):
    """What an oracle may use besides the true gradient.

    key: of this step. children: the two tokens below every node, (nodes, 2). mean: computes the
    mean gradient over all targets.
    """

    key: Array
    children: Int[AnyArray, "nodes 2"]
    mean: Callable[[], Gradient] | None = None


class Answer(NamedTuple):
    """gradient: what the learner gets. notes: numbers by name, which become stats of the runs."""

    gradient: Gradient
    notes: dict[str, Array]


@runtime_checkable
class Oracle(Protocol):
    """Anything that answers with a gradient near the true one."""

    def answer(self, true: Gradient, query: Query) -> Answer:
        """What the learner gets in place of the true gradient."""


def is_leaf(value: object) -> bool:
    """Whether a setting holds what jax puts there while code is compiled."""
    return isinstance(value, jax.Array | np.generic) or type(value) is object


@dataclass(frozen=True)
class _Bounded:
    """An oracle whose answers are within epsilon of the truth, in a norm of its own."""

    needs_mean: ClassVar[bool] = False

    epsilon: Annotated[float, Ge(0), Doc("Error the oracle may make.")] = 0.002

    def __post_init__(self) -> None:
        if not is_leaf(self.epsilon):
            check_settings(type(self).__name__, vars(self), options_of(type(self)))


@savable
@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Hiding(_Bounded):
    """Theorem 2's oracle: the mean gradient over all targets if the true one is near it.

    epsilon: ε, the distance in Euclidean norm up to which the target is hidden; beyond it the
    answer is the true gradient. (KS prints the two cases exchanged.) Notes: hidden, whether it
    answered with the mean; distance, of the true gradient from the mean.
    """

    needs_mean: ClassVar[bool] = True

    def answer(self, true: Gradient, query: Query) -> Answer:
        if query.mean is None:
            raise ValueError("Hiding needs the mean gradient over all targets")
        mean = query.mean()
        distance = jnp.linalg.norm(jnp.ravel(true - mean))
        hidden = distance <= self.epsilon
        return Answer(jnp.where(hidden, mean, true), {"hidden": hidden, "distance": distance})


@savable
@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class AdversarialError(_Bounded):
    """The worst error of Euclidean norm epsilon for descent: straight against the gradient."""

    def answer(self, true: Gradient, query: Query) -> Answer:
        norm = jnp.linalg.norm(jnp.ravel(true))
        return Answer(true * jnp.maximum(0, 1 - self.epsilon / jnp.maximum(norm, 1e-30)), {})


@savable
@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SplitPairError(_Bounded):
    """The two children that differ most, moved apart by epsilon each.

    It is the worst error of that size for the balance that a node needs.
    """

    def answer(self, true: Gradient, query: Query) -> Answer:
        pairs, nodes = jnp.asarray(query.children), jnp.arange(len(query.children))
        difference = true[pairs[:, 0], nodes] - true[pairs[:, 1], nodes]
        worst = jnp.argmax(jnp.abs(difference))
        push = jnp.where(difference[worst] >= 0, self.epsilon, -self.epsilon).astype(true.dtype)
        return Answer(true.at[pairs[worst], worst].add(jnp.stack([push, -push])), {})


@savable
@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class RandomSignError(_Bounded):
    """Every entry moved by epsilon, up or down at random."""

    def answer(self, true: Gradient, query: Query) -> Answer:
        signs = jax.random.rademacher(query.key, true.shape, true.dtype)
        return Answer(true + self.epsilon * signs, {})


#: Oracles by name, each with the error it makes unless changed; "exact" makes none.
ORACLES: dict[str, Oracle | None] = {"exact": None, "hiding": Hiding()}


def as_oracle(oracle: str | Oracle) -> Oracle | None:
    """An oracle from its name; one's own passes unchanged. None stands for the exact gradient."""
    if isinstance(oracle, str):
        return ORACLES[oracle]
    if isinstance(oracle, type) or not callable(getattr(oracle, "answer", None)):
        raise ValueError(
            f"oracle must be one of {', '.join(ORACLES)} or have a method answer(true, query), "
            f"such as Hiding(0.002), got {oracle!r}"
        )
    return oracle
