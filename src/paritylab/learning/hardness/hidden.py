"""Learning from an oracle that errs: direct training while it hides the target, one step of the
chain against its error."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.chain_accuracy import (
    ENUMERATED,
    draw_tokens,
    judge_chain,
    judged_chains,
    leaves_of,
    over_runs,
    pairs_found,
)
from paritylab.learning.chain.published import descend_scores
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.learning.data import Sample, Target, Unknown
from paritylab.learning.hardness.oracles import hiding, jittered, mean_labels, opposing, tipping
from paritylab.learning.runs import Trained, check_fields, register
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link, check_link
from paritylab.problem import ParityTree
from paritylab.problem.sampling import binary_digits
from paritylab.problem.tree import tree_tokens
from paritylab.theory.ks import child_signal


@register("hidden")
@dataclass(frozen=True, eq=False)
class Hidden:
    """Theorem 2: descent on ½ mean (ŷ - y)² of the self-generated answer, seen through `hiding`.

    epsilon: ε, the error the oracle may make; 0 is the exact gradient. link: φ, a name or one's
    own. eta: η. The start is W = 0, a node sees lower levels only.

    A run recovers its tree if at every inner node the two children outscore every other token the
    node sees. It is solved if its generated root has the right sign on every one of 10,000 fresh
    inputs (all inputs up to n = 16) and ½ mean (ŷ - y)² is below 0.01.

    stats, before every step (runs, steps): hidden, whether the oracle answered with the mean over
    all targets; distance, how far the true gradient was from it.
    """

    epsilon: float = 2e-3
    link: Any = "quadratic"
    eta: float = 1.0
    steps: int = 50

    takes = (Sample,)
    of = "tree"

    def __post_init__(self) -> None:
        check_fields(self)
        check_link(as_link(self.link))

    def train(self, data: Any, keys: jax.Array, trace: int | None) -> Trained:
        leaves, link = leaves_of(data), as_link(self.link)
        setting = _Setting(data.n, data.samples, self.steps, trace)
        eta, epsilon = np.float32(self.eta), np.float32(self.epsilon)
        found = _descend(link, eta, epsilon, leaves, keys, setting)
        scores, told, path = jax.tree.map(np.asarray, found)
        kept = None
        if trace is not None:
            steps = np.arange(0, self.steps, trace)
            kept = {"step": steps, "risk": told.loss[:, steps], "scores": path}
        return judged_chains(
            scores,
            data,
            keys,
            link=link,
            mask="level",
            needs_pairs=False,
            stats={"hidden": told.hidden, "distance": told.distance},
            trace=kept,
        )

    def rebuild(self, numbers: Any, target: Target | Unknown, key: jax.Array) -> ChainModel:
        return ChainModel(numbers, target.n, self.link, "level")


class _Setting(NamedTuple):
    """What a compiled descent is specialised on."""

    n: int
    samples: int
    steps: int
    every: int | None


class _Told(NamedTuple):
    """A step: ½ mean (ŷ - y)² before it, whether the target was hidden, ‖∇ - mean‖."""

    loss: Any
    hidden: Any
    distance: Any


@eqx.filter_jit
def _descend(
    link: AbstractLink, eta: Any, epsilon: Any, leaves: Any, keys: Any, setting: _Setting
) -> Any:
    def one(leaves: Any, key: Any) -> Any:
        k = leaves.shape[0]
        rows = _rows(jax.random.fold_in(key, 1), leaves, setting)
        signs, labels = rows.tokens[:, : setting.n], rows.tokens[:, -1]
        soft = mean_labels(signs, k)

        def risk(scores: Any, labels: Any) -> Any:
            answer = ChainModel(scores, setting.n, link, "level").generate(signs)[:, -1]
            return jnp.sum(rows.weights * (answer - labels) ** 2) / 2

        def step(scores: Any) -> Any:
            loss, true = jax.value_and_grad(risk)(scores, labels)
            mean = jax.grad(risk)(scores, soft)
            answer = hiding(true, mean, epsilon)
            distance = jnp.linalg.norm(jnp.ravel(true - mean))
            return scores - eta * answer.gradient, _Told(loss, answer.hidden, distance)

        start = jnp.zeros((setting.n + k - 1, k - 1), jnp.float32)
        return descend_scores(step, start, setting.steps, setting.every)

    return over_runs(one, leaves, keys)


class _Rows(NamedTuple):
    """True tokens of a sample, and the share of the sample that each row is."""

    tokens: Any
    weights: Any


def _rows(key: jax.Array, leaves: Any, setting: _Setting) -> _Rows:
    """The sample row by row or, if it has more rows than there are inputs, inputs with counts."""
    n, samples = setting.n, setting.samples
    if n > ENUMERATED or samples <= 1 << n:
        return _Rows(draw_tokens(key, leaves, n, samples), jnp.full(samples, 1 / samples))
    counts = jnp.bincount(jax.random.randint(key, (samples,), 0, 1 << n), length=1 << n)
    bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n)
    return _Rows(tree_tokens(1 - 2 * bits.astype(jnp.float32), leaves), counts / samples)


def step_under_error(
    tree: ParityTree, samples: int, epsilon: float, key: int = 0
) -> dict[str, bool]:
    """Whether one teacher-forced step is still right if its gradient is wrong by epsilon.

    opposed: an error of norm epsilon straight against the gradient. spread: the same norm over all
    entries at random. tipped: two entries, those of the pair of children that differ most, moved
    further apart by epsilon each, which is the worst for the balance that a node needs. Right
    means every pair found and the sign of the answer on 2,000 fresh inputs. The step gives the
    children of the root ln M + 5.
    """
    gradient, tokens = teacher_gradient(tree, key, samples), tree.n + tree.k - 2
    eta = (np.log(tokens) + 5) / child_signal(tokens, as_link("cos"))
    wrong = {
        "opposed": opposing(gradient, epsilon),
        "spread": jittered(gradient, epsilon / np.sqrt(gradient.size), key),
        "tipped": tipping(gradient, tree.children, epsilon),
    }
    outcomes = {}
    for name, each in wrong.items():
        model = ChainModel(-eta * each, tree.n)
        found = float(pairs_found(model.scores, np.asarray(tree.leaves)))
        outcomes[name] = found == 1 and judge_chain(model, tree, key + 1, 2000)[0] == 1
    return outcomes
