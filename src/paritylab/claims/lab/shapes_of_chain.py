"""Which chain to show: a tree of steps or a line of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab.claims import OURS, Estimate, Trial, claim, note, within
from paritylab.claims.lab.half_points import half_point_estimate, quotient
from paritylab.claims.lab.shifted_chain import Harm, as_stated
from paritylab.learning.chain.chain_accuracy import answers, over_runs, tree_children
from paritylab.learning.chain.teacher import batch_gradient, usual_step
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, CosineLink
from paritylab.precision import AnyArray
from paritylab.problem import random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs, fold_keys
from paritylab.problem.tree import ParityTree, tree_tokens
from paritylab.theory.ks import samples_for_every_input, samples_for_every_pair, step_error
from paritylab.theory.shift import flips_limit, lies_limit

SHAPES = ("tree", "line")
#: Rows drawn at a time, and fresh inputs that judge a run.
ROWS, INPUTS = 1024, 1000
CLEAN = Harm()


class ShapeRuns(NamedTuple):
    """Per run: every pair found; every fresh input right."""

    found: Bool[AnyArray, "..."]
    right: Bool[AnyArray, "..."]


def line_tokens(signs: Float[Array, "rows n"], leaves: Int[AnyArray, " k"]) -> Array:
    """Input signs, then the running products of the chosen bits from the second on."""
    running = jnp.cumprod(signs[:, leaves], axis=1)
    return jnp.concatenate([signs, running[:, 1:]], axis=1)


def line_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The step before and the next bit; two bits for the first step."""
    chosen = jnp.asarray(leaves)
    before = jnp.arange(n, n + chosen.shape[0] - 2, dtype=chosen.dtype)
    return jnp.stack([jnp.concatenate([chosen[:1], before]), chosen[1:]], axis=1)


def shape_steps(
    shape: str,
    trees: tuple[ParityTree, ...],
    samples: int,
    eta: float,
    harm: Harm = CLEAN,
    *,
    seed: int = 0,
) -> ShapeRuns:
    """One step of size η from W = 0 for every target, judged on inputs without a chain.

    harm: flips and lies in the steps that are shown.
    """
    if shape not in SHAPES:
        raise ValueError(f"shape must be tree or line, got {shape!r}")
    leaves = np.array([tree.leaves for tree in trees], np.int32)
    keys = fold_keys(as_key(seed), np.arange(len(trees)))
    numbers = Harm(*(np.float32(each) for each in harm))
    given = (CosineLink(), np.float32(eta), numbers, np.int32(samples))
    with jax.default_matmul_precision("highest"):
        found = _steps(*given, leaves, keys, (shape, trees[0].n))
    return ShapeRuns(*map(np.asarray, found))


@eqx.filter_jit
def _steps(
    link: AbstractLink,
    eta: AnyArray | np.float32,
    harm: Harm,
    samples: AnyArray | np.int32,
    leaves: AnyArray,
    keys: Array,
    how: tuple[str, int],
) -> PyTree:
    shape, n = how
    tokens_of = tree_tokens if shape == "tree" else line_tokens
    children_of = tree_children if shape == "tree" else line_children

    def one(leaves: Array, key: Array) -> ShapeRuns:
        k = leaves.shape[0]

        def add(index: Array, total: Array) -> Array:
            own = jax.random.split(jax.random.fold_in(key, index), 3)
            signs = draw_signs(own[0], ROWS, n)
            shown = as_stated(own[1:], tokens_of(signs, leaves), leaves, n, harm)
            kept = index * ROWS + jnp.arange(ROWS) < samples
            # A row of zeros has a mean of 0, where φ is flat: it adds nothing.
            rows = jnp.where(kept[:, None], shown, 0)
            return total + batch_gradient(rows, n, k, link, "token")

        zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
        batches = (samples + ROWS - 1) // ROWS
        scores = -eta * jax.lax.fori_loop(0, batches, add, zero) / samples
        fresh = tokens_of(draw_signs(jax.random.fold_in(key, 2**30), INPUTS, n), leaves)
        right = answers(ChainModel(scores, n, link), fresh).wrong == 0
        return ShapeRuns(_found(scores, children_of(leaves, n), n), right)

    return over_runs(one, leaves, keys)


def _found(scores: Array, children: Array, n: int) -> Array:
    nodes = jnp.arange(scores.shape[1])
    seen = jnp.where(visible_tokens(n, len(children) + 1, "token"), scores, -jnp.inf)
    others = seen.at[children.T, nodes[None, :]].set(-jnp.inf)
    least = jnp.min(scores[children.T, nodes[None, :]], axis=0)
    return jnp.all(least > jnp.max(others, axis=0))


LINK = CosineLink()
#: What is tried, over what is predicted for half of the targets.
MULTIPLES = np.array([0.6, 0.85, 1.2, 1.7])
GOALS = ("rows to find every pair", "rows to be right", "wrong steps", "lies about one child")


def _half_the_rows(shape: str, trees: Any, samples: int, *rest: Any, **more: Any) -> ShapeRuns:
    return shape_steps(shape, trees, samples if shape == "tree" else samples // 2, *rest, **more)


@claim(
    "lab-tree-or-line",
    OURS,
    quick={"size": (32, 16), "samples": 8192, "runs": 40, "goals": GOALS[:1]},
    full={"size": (128, 64), "samples": 65_536, "runs": 100, "goals": GOALS},
    more="runs",
    planted=("a line that is shown half of its rows", {"steps": _half_the_rows}, "refuted"),
)
def tree_or_line(
    trial: Trial,
    size: tuple[int, int] = (64, 32),
    samples: int = 16_384,
    runs: int = 40,
    goals: Sequence[str] = GOALS[:2],
    *,
    steps: Callable[..., ShapeRuns] = shape_steps,
) -> Iterator[Any]:
    """One step learns a line of steps as well as a tree, at n = 64, k = 32.

    Wen et al.'s chain is a line: each step multiplies one more bit, depth k - 1 instead of log2 k.
    In KS's one-step engine with the link -cos(πt), at equal n, k and rows, tree and line have the
    same first gradient to leading order, so half of the targets have every pair found, and all of
    1000 fresh inputs right, from the same N, within a factor of 1.5. At full effort also: they
    tolerate the same share of wrong steps and of lies (from `samples` rows).
    """
    n, k = size
    trees = random_trees(n, k, runs, key=trial.seed)
    score, eta = step_error(n, k, float(samples), LINK).score, usual_step(n, k, LINK, samples)
    limits = {
        GOALS[0]: samples_for_every_pair(n, k),
        GOALS[1]: samples_for_every_input(n, k),
        GOALS[2]: flips_limit(n, k, float(samples), score, LINK),
        GOALS[3]: lies_limit(n, k, score, LINK),
    }

    def half(shape: str, goal: str) -> Estimate:
        """What half of the targets need or tolerate."""
        tried = MULTIPLES * limits[goal]
        if goal in GOALS[:2]:
            got = [
                steps(shape, trees, int(rows), usual_step(n, k, LINK, int(rows)), seed=trial.seed)
                for rows in tried
            ]
            flags = np.stack([each.found if goal == GOALS[0] else each.right for each in got])
        else:
            kind = "flips" if goal == GOALS[2] else "lies"
            harms = [Harm(**{kind: float(each)}) for each in tried]
            got = [steps(shape, trees, samples, eta, harm, seed=trial.seed) for harm in harms]
            flags = ~np.stack([each.right for each in got])
        return half_point_estimate(tried, flags)

    where = f"n = {n}, k = {k}"
    for goal in trial.track(goals):
        tree, line = (half(shape, goal) for shape in SHAPES)
        yield within(f"{goal}, a line's over a tree's, {where}", quotient(line, tree), 1 / 1.5, 1.5)
        for shape, found in (("tree", tree), ("line", line)):
            yield note(f"{goal}, a {shape}, predicted {limits[goal]:.3g}, {where}", found)
