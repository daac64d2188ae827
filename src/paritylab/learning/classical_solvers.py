"""Solvers without training as learners: `learn(Auto(), Rows(bits, labels))`."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt, Lt

from paritylab.baselines import Answer, solve
from paritylab.learning.contract import (
    SOLVED_RISK,
    BaseLearner,
    Trained,
    check_fields,
    register_learner,
)
from paritylab.learning.data import Rows, Sample, Target, Unknown
from paritylab.problem import Parity
from paritylab.problem.sampling import draw_bits, each_key

#: What an answer says of itself, among the stats of a run.
STATS = ("method", "p_value", "agreement", "noise_rate", "complete", "seconds")


class NamedParity(eqx.Module):
    """The parity a solver named: sign·(-1)^(xor of the bits it holds), or 0 if it named none.

    indicator: 1 on the subset, (n,). sign: +1, -1, or 0 after an abstention.
    """

    indicator: Any
    sign: Any

    def __call__(self, bits: Any) -> Any:
        odd = jnp.mod(jnp.asarray(bits, jnp.result_type(float)) @ jnp.asarray(self.indicator), 2)
        return self.sign * (1 - 2 * odd)


@dataclass(frozen=True)
class _Solver(BaseLearner):
    """What all solvers share. alpha: chance that labels without relation to the columns get an
    answer. k: the set's size, where the data do not say; None searches sizes 1, 2, … budget:
    seconds per run, 30 if None.

    A run abstains if its p-value exceeds alpha; it is solved if what it names is right on all but
    1 % of the inputs, label noise apart. stats: "method", "p_value", "agreement", "noise_rate",
    "complete", "seconds", "rows_needed" (0 where a set is named), "equivalents" (how many).
    """

    alpha: Annotated[float, Gt(0), Lt(1), Doc("Chance that unrelated labels get an answer.")] = 0.01
    k: Annotated[int | None, Ge(1), Doc("Size of the set; 1, 2, … if rows do not say.")] = None
    budget: Annotated[float | None, Gt(0), Doc("Seconds a run may take; 30 if absent.")] = None

    takes = (Sample, Rows)
    targets = ("parity",)
    one_by_one = True
    trains_on: ClassVar = {"n": 20, "k": 3, "runs": 20}
    method: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        check_fields(self)

    def train(self, data: Sample | Rows, keys: jax.Array, trace: int | None) -> Trained:
        """Solve run after run; a run whose evidence is too weak abstains."""
        targets = (None,) * data.runs if isinstance(data, Rows) else data.targets
        outcomes = [self._run(data, t, key) for t, key in zip(targets, each_key(keys), strict=True)]
        answers, judged = zip(*outcomes, strict=True)
        indicator = np.zeros((len(answers), data.n))
        for row, answer in zip(indicator, answers, strict=True):
            row[list(answer.subset or ())] = 1.0
        abstained = np.array([each.subset is None for each in answers])
        sign = np.where(abstained, 0.0, [each.sign for each in answers])
        risk, error, wrong = np.array(judged, dtype=float).T
        path = {"step": np.zeros(1, int), "risk": np.ones((len(answers), 1))}
        return Trained(
            numbers={"indicator": indicator, "sign": sign},
            subset=[each.subset for each in answers],
            risk=risk,
            error=error,
            kind="sampled" if isinstance(data, Rows) else "exact",
            loss="squared_hinge",
            solved=wrong < SOLVED_RISK / 4,
            abstained=abstained,
            trace={} if trace is None else path,
            stats={
                **{name: np.array([getattr(each, name) for each in answers]) for name in STATS},
                "rows_needed": np.array([each.rows_needed or 0 for each in answers]),
                "equivalents": np.array([len(each.equivalents) for each in answers]),
            },
        )

    def rebuild(self, numbers: Any, target: Target | Unknown, key: jax.Array) -> NamedParity:
        return NamedParity(numbers["indicator"], numbers["sign"])

    def _run(
        self, data: Sample | Rows, target: Target | None, key: jax.Array
    ) -> tuple[Answer, tuple[float, float, float]]:
        """The answer of one run, on rows of one's own or on drawn ones, and what it is worth."""
        if isinstance(data, Rows):
            bits, labels, k = data.bits, data.labels, self.k
        elif not isinstance(target, Parity):
            raise ValueError("solvers look for one parity; trees of parities are not for them")
        else:
            # The rows that other learners see: drawn by fold_in(key, 2).
            own, fair = jax.random.fold_in(key, 2), target.is_uniform
            noise = data.corruption.noise(target.noise)
            drawn = draw_bits(own, target.probabilities, noise, data.samples, fair)
            bits, labels = drawn[0], np.asarray(target.labels_unchecked(drawn[0]) * drawn[1])
            k = self.k or target.k or None
        words = [int(word) for word in np.asarray(jax.random.key_data(key)).ravel()]
        limits: dict[str, Any] = {"alpha": self.alpha, "budget": self.budget}
        answer = solve(bits, labels, k=k, key=words, method=self.method, **limits)
        return answer, _worth(answer, target)


@register_learner("auto")
class Auto(_Solver):
    """The method that rows, columns and budget call for.

    >>> from paritylab import Parity, Sample, learn
    >>> runs = learn(Auto(), Sample(Parity(30, (4, 11, 17), noise=0.1), 120), runs=2)
    >>> runs.subset, runs.result[0].name
    ([(4, 11, 17), (4, 11, 17)], 'SOLVED')
    """


@register_learner("elimination")
class Elimination(_Solver):
    """Elimination over GF(2) for rows without noise, on random rows for a little."""

    method = "elimination"


@register_learner("correlation")
class Correlation(_Solver):
    """Every subset of the size by the split product; sizes 1, 2, … where it is not known."""

    method = "correlation"


def _worth(answer: Answer, target: Target | None) -> tuple[float, float, float]:
    """Squared-hinge risk of the parity named, its error, and how often it is wrong, noise apart.

    A parity is right or wrong by 2, so its risk is 4·P(wrong). It differs from the target where the
    exclusive or of all columns in one of the two sets is odd.
    """
    if answer.subset is None:
        return 1.0, 0.0, 1.0
    if not isinstance(target, Parity):
        share = answer.noise_rate
        return 4 * share, 4 * float(np.sqrt(share * (1 - share) / answer.rows)), 0.0
    apart = sorted(set(answer.subset) ^ set(target.subset))
    correlation = float(np.prod(1 - 2 * target.probabilities[apart]))
    correlation *= answer.sign * target.sign
    return 2 * (1 - correlation * (1 - 2 * target.noise)), 0.0, (1 - correlation) / 2
