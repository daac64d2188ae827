"""What a step descends: the risk over all inputs, or over the rows of this step.

An `Objective` says which risk it is and is compiled for; a `StepRisk` is that risk at one step of
one run, as `learn` hands it to the learner.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.contract import MOST_INPUTS, LossPart
from paritylab.learning.data import Data, Fresh, Population, Rows, Sample, are_uniform, sources_of
from paritylab.models.protocol import Model, is_model, parameters_of, with_parameters
from paritylab.problem import Loss, as_loss
from paritylab.problem.sampling import each_key
from paritylab.risk.objective import Target as Arrays, stacked_targets
from paritylab.risk.routes.statistic import labels_at
from paritylab.risk.rows import WeightedRows, draw_rows, every_row, predictions

#: Bits of the rows that a run holds at a time.
PIECE = 1 << 20

#: The risk of a model over all inputs, from the target's arrays; in closed form.
ExactRisk = Callable[[Any, Any], jax.Array]


class Objective(NamedTuple):
    """Which risk is descended; equal objectives share compiled code.

    loss: of the predictions. kind: name of the data's class. samples: rows drawn per run or step.
    uniform: all bits are fair. batch: rows per step of those drawn once, all of them if None.
    exact: risk(model, target) over all inputs; None visits them or takes rows. on_rows:
    values(model, rows, target) of every row, in place of the loss of the predictions. mixture:
    share of the rows, at every step, whose hidden bits share a sign. in_pieces: whether many rows
    are drawn piece by piece.
    """

    loss: Loss
    kind: str
    samples: int
    uniform: bool
    batch: int | None = None
    exact: ExactRisk | None = None
    on_rows: Callable[[Any, WeightedRows, Any], jax.Array] | None = None
    mixture: Float[AnyArray, " steps"] | None = None
    in_pieces: bool = True

    @classmethod
    def of(
        cls, data: Data, loss: LossPart, batch: int | None = None, exact: ExactRisk | None = None
    ) -> "Objective":
        """The loss on the data's own rows, or on all inputs of a population."""
        kind = type(data).__name__
        if isinstance(data, Fresh) and batch is not None:
            raise ValueError(
                f"Fresh draws its {data.samples} samples at every step; batch is for rows drawn "
                "once"
            )
        if not isinstance(data, Population) or data.route == "enumeration" or batch is not None:
            exact = None
        if isinstance(data, Population) and exact is None and data.n > MOST_INPUTS:
            raise ValueError(
                f"no closed form of this risk is known, and training visits all inputs up to "
                f"n = {MOST_INPUTS}, got n={data.n}; give Sample or Fresh"
            )
        samples = data.samples if isinstance(data, Sample | Fresh) else 0
        return cls(as_loss(loss), kind, samples, are_uniform(data), batch, exact)

    def pieces(self, n: int) -> int:
        """In how many pieces the rows of a step are drawn; by the problem alone, so that a key
        gives the same rows in blocks of any size. Batches are chosen among rows that are kept."""
        if self.batch is not None or not self.in_pieces:
            return 1
        return -(-self.samples * n // PIECE)

    def rows_at_once(self, n: int, labels: int = 0) -> int:
        """Rows that one run holds at a time; labels: how many rows of one's own there are."""
        if self.exact is not None:
            return 0
        held = {"Population": 1 << n, "Rows": labels}.get(
            self.kind, self.samples // max(1, self.pieces(n))
        )
        return self.batch or held


@dataclass(frozen=True)
class StepRisk:
    """The risk at one step of one run.

    Calling it with parameters, a tree as `parameters_of(model)` orders them, gives value and
    gradient; with a whole model the gradient is in that model's parameters. number: of the step.
    """

    objective: Objective
    given: PyTree
    rows: WeightedRows | None
    data_key: Array
    key: Array
    number: Array | int
    template: Model

    def __call__(self, parameters: Any) -> tuple[Array, Any]:
        """Value and gradient."""
        model, start = self._model_and_parameters(parameters)
        value, gradient = jax.value_and_grad(lambda p: self.of(with_parameters(model, p)))(start)
        return value, gradient

    def value(self, parameters: Any) -> Array:
        """The value alone."""
        return self.of(with_parameters(*self._model_and_parameters(parameters)))

    def halves(self) -> "tuple[StepRisk, StepRisk]":
        """The risk on the first and on the second half of the rows; over all inputs, itself twice.

        What was fitted to rows looks better on them than it is: the second half judges it.
        """
        if self.objective.exact is not None or self.objective.kind == "Population":
            return self, self
        rows = self._rows()
        half = rows.labels.shape[0] // 2
        if half < 1:
            return self, self
        ends = (slice(None, half), slice(half, None))
        parts = (WeightedRows(*(each[end] for each in rows)) for end in ends)
        first, second = (part._replace(shares=part.shares / jnp.sum(part.shares)) for part in parts)
        objective = self.objective._replace(kind="Rows", samples=0, batch=None)
        return (
            replace(self, objective=objective, rows=first),
            replace(self, objective=objective, rows=second),
        )

    def with_loss(self, loss: LossPart, exact: ExactRisk | None) -> "StepRisk":
        """The risk of another loss on the same rows. exact: over all inputs, if it is known."""
        return replace(self, objective=self.objective._replace(loss=as_loss(loss), exact=exact))

    def _model_and_parameters(self, parameters: Any) -> tuple[Any, Any]:
        if is_model(parameters):
            # The parameters of an equinox.Module are a module too, without what does not train.
            whole = hasattr(parameters, "with_parameters")
            model = parameters if whole else eqx.combine(parameters, self.template)
            return model, parameters_of(model)
        return self.template, parameters

    def _rows(self) -> WeightedRows:
        """The rows of this step, all at once."""
        objective = self.objective
        if objective.kind == "Fresh":
            return self._draw(self.key, size=objective.samples)
        assert self.rows is not None
        return self.rows if objective.batch is None else choose_rows(self.rows, self.key, objective)

    def _draw(self, key: Array, size: int) -> WeightedRows:
        return draw_rows(key, self.given, size, uniform=self.objective.uniform)

    def of(self, model: Any) -> Array:
        """The value at any predictor of bit strings."""
        objective = self.objective
        if objective.exact is not None:
            return objective.exact(model, self.given)
        n = 1 if objective.kind in ("Rows", "Population") else self.given.probabilities.shape[0]
        if objective.pieces(n) > 1:
            return objective.loss.outer(self._streamed(model, objective.pieces(n)))
        return objective.loss.outer(self._mean(model, self._rows(), self.key))

    def _mean(self, model: Any, rows: WeightedRows, key: Array) -> Array:
        objective = self.objective
        noise: Array | float = 0.0
        if objective.kind == "Population":
            noise = (1 - jnp.abs(self.given.contrast)) / 2
        if objective.mixture is not None:
            share = jnp.asarray(objective.mixture)[self.number]
            rows = share_a_sign(rows, jax.random.fold_in(key, 1), self.given, share)
        if objective.on_rows is not None:
            return rows.shares @ objective.on_rows(model, rows, self.given)
        return rows.shares @ objective.loss.noisy(rows.labels, predictions(model, rows.bits), noise)

    def _streamed(self, model: Any, pieces: int) -> Array:
        """The mean over rows that are drawn, used and forgotten piece by piece, also backwards."""
        samples = self.objective.samples
        size = -(-samples // pieces)
        key = self.key if self.objective.kind == "Fresh" else self.data_key

        def piece(index: Array) -> Array:
            own, places = jax.random.fold_in(key, index), index * size + jnp.arange(size)
            shares = jnp.where(places < samples, 1 / samples, 0.0)
            return self._mean(model, self._draw(own, size=size)._replace(shares=shares), own)

        return jnp.sum(jax.lax.map(jax.checkpoint(piece), jnp.arange(pieces)))


def risk_of_run(
    objective: Objective, given: PyTree, data_key: Array, template: Model
) -> Callable[[Array, Array | int], StepRisk]:
    """risk(key of the step, its number) of one run, whose rows are drawn or listed here."""
    rows = None
    if objective.exact is None and objective.kind != "Fresh":
        if objective.kind == "Population":
            rows = every_row(given)
        elif objective.kind == "Rows":
            rows = given
        elif objective.pieces(given.probabilities.shape[0]) == 1:
            rows = draw_rows(data_key, given, objective.samples, uniform=objective.uniform)
    return partial(_step_risk, objective, given, rows, data_key, template)


def _step_risk(
    objective: Objective,
    given: PyTree,
    rows: WeightedRows | None,
    data_key: Array,
    template: Model,
    key: Array,
    number: Array | int,
) -> StepRisk:
    return StepRisk(objective, given, rows, data_key, key, number, template)


def training_inputs(data: Data, keys: jax.Array) -> PyTree:
    """What the runs learn from: the arrays of their targets, or the rows that they train on."""
    if isinstance(data, Rows):
        return training_rows(data, keys)
    return stacked_targets(sources_of(data, "gradient descent on a model"))


def training_rows(data: Rows, keys: jax.Array) -> PyTree:
    """The rows each run trains on, (runs, N, …); the others are held out for evaluation."""
    chosen = np.stack([data.split(key)[0] for key in each_key(keys)])
    bits, labels = (of[chosen].astype(np.float64) for of in (data.bits, data.labels))
    shares = np.full(chosen.shape, 1 / chosen.shape[1])
    return WeightedRows(*map(jnp.asarray, (bits, labels, shares)))


def choose_rows(rows: WeightedRows, key: jax.Array, objective: Objective) -> WeightedRows:
    """A random batch of the rows, each drawn by its share."""
    size, batch = rows.labels.shape[0], objective.batch or 0
    if objective.kind == "Population" and not objective.uniform:
        index = jax.random.choice(key, size, (batch,), p=rows.shares)
    else:
        index = jax.random.randint(key, (batch,), 0, size)
    return WeightedRows(rows.bits[index], rows.labels[index], jnp.full(batch, 1 / batch))


def share_a_sign(rows: WeightedRows, key: jax.Array, target: Arrays, share: Array) -> WeightedRows:
    """A share of the rows with all hidden bits equal to one fair bit; label noise stays."""
    chosen, ones = jax.random.uniform(key, (2, rows.labels.shape[0]), jnp.float32)
    alike = (chosen < share)[:, None] & (jnp.asarray(target.indicator) > 0)[None, :]
    bits = jnp.where(alike, (ones < 0.5)[:, None].astype(rows.bits.dtype), rows.bits)
    flips = jnp.where(rows.labels == labels_at(rows.bits, target), 1, -1)
    return WeightedRows(bits, labels_at(bits, target) * flips, rows.shares)
