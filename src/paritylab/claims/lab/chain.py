"""The chain learned in one step: rows it needs, harm it stands, a line instead of a tree."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab._support.precision import AnyArray
from paritylab.claims import OURS, Trial, at_least, at_most, claim, note, within
from paritylab.learning.chain.chain_learner import answers, over_runs, tree_children
from paritylab.learning.chain.teacher import batch_gradient, chain_curve, usual_step
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, CosineLink
from paritylab.problem import ParityTree, random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs, fold_keys
from paritylab.problem.tree import tree_tokens
from paritylab.statistics import Estimate, Mean, Rate, half_point_estimate, quotient
from paritylab.theory.ks import samples_for_every_input, samples_for_every_pair, step_error
from paritylab.theory.shift import flips_limit, lies_limit, shift_limit

#: Rows held at a time.
ROWS = 1024
#: A chain is a tree of steps, or a line of them, each multiplying one more bit.
SHAPES = ("tree", "line")


class Harm(NamedTuple):
    """What is wrong with the training rows.

    alpha: probability that all bits of A share one sign. flips: probability with which each
    intermediate token is stated wrongly. lies: probability that the first node states the product
    of its first child and a bit outside the parity set.
    """

    alpha: Any = 0.0
    flips: Any = 0.0
    lies: Any = 0.0


class HarmedRuns(NamedTuple):
    """After one step on harmed rows, per run.

    found: every pair on top. uniform, shifted: accuracy of the generated answer on fair inputs and
    on inputs with the same shift. constant: accuracy there of the more frequent answer.
    """

    found: Bool[AnyArray, " runs"]
    uniform: Float[AnyArray, " runs"]
    shifted: Float[AnyArray, " runs"]
    constant: Float[AnyArray, " runs"]


def joined_bits(tree: ParityTree, members: int, inside: bool) -> Bool[np.ndarray, " n"]:
    """A: the first `members` leaves of the tree, or so many bits outside the parity set."""
    outside = np.setdiff1d(np.arange(tree.n), tree.leaves)
    chosen = np.asarray(tree.leaves if inside else outside)
    joined = np.zeros(tree.n, dtype=bool)
    joined[chosen[:members]] = True
    return joined


def line_tokens(signs: Float[Array, "rows n"], leaves: Int[AnyArray, " k"]) -> Array:
    """Input signs, then the running products of the chosen bits from the second on."""
    running = jnp.cumprod(signs[:, leaves], axis=1)
    return jnp.concatenate([signs, running[:, 1:]], axis=1)


def line_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The step before and the next bit; two bits for the first step."""
    chosen = jnp.asarray(leaves)
    before = jnp.arange(n, n + chosen.shape[0] - 2, dtype=chosen.dtype)
    return jnp.stack([jnp.concatenate([chosen[:1], before]), chosen[1:]], axis=1)


def harmed_rows(
    key: Any, leaves: Int[Array, " k"], joined: Any, harm: Harm, rows: int, shape: str = "tree"
) -> Float[Array, "rows tokens"]:
    """Rows of all tokens as the learner is shown them."""
    n = joined.shape[0]
    keys = jax.random.split(key, 5)
    signs = draw_signs(keys[0], rows, n)
    together = jax.random.bernoulli(keys[1], harm.alpha, (rows, 1)) & joined[None, :]
    signs = jnp.where(together, jax.random.rademacher(keys[2], (rows, 1), signs.dtype), signs)
    tokens = (tree_tokens if shape == "tree" else line_tokens)(signs, leaves)
    return as_stated(keys[3:], tokens, leaves, n, harm)


def as_stated(
    keys: Any, tokens: Float[Array, "rows tokens"], leaves: Int[Array, " k"], n: int, harm: Harm
) -> Float[Array, "rows tokens"]:
    """The tokens with flips and lies in the intermediate ones. keys: one for each of the two."""
    signs, stated = tokens[:, :n], tokens[:, n:]
    false = jax.random.bernoulli(keys[0], harm.flips, stated.shape)
    stated = jnp.where(false, -1, 1) * stated
    outside = jnp.argmin(jnp.zeros(n).at[leaves].set(1))
    lie = signs[:, leaves[0]] * signs[:, outside]
    lied = jax.random.bernoulli(keys[1], harm.lies, (len(tokens),))
    stated = stated.at[:, 0].set(jnp.where(lied, lie, stated[:, 0]))
    return jnp.concatenate([signs, stated], axis=1)


def harmed_gradient(
    leaves: Any,
    joined: Any,
    harm: Harm,
    samples: Any,
    key: Any,
    link: AbstractLink,
    shape: str = "tree",
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 from so many harmed rows."""
    n, k = joined.shape[0], leaves.shape[0]

    def add(index: Any, total: Any) -> Any:
        shown = harmed_rows(jax.random.fold_in(key, index), leaves, joined, harm, ROWS, shape)
        kept = index * ROWS + jnp.arange(ROWS) < samples
        # A row of zeros has a mean of 0, where φ is flat: it adds nothing.
        return total + batch_gradient(jnp.where(kept[:, None], shown, 0), n, k, link, "token")

    zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
    total: Array = jax.lax.fori_loop(0, (samples + ROWS - 1) // ROWS, add, zero)
    return jnp.asarray(total / samples)


def harmed_steps(
    trees: tuple[ParityTree, ...],
    joined: Any,
    harm: Harm,
    samples: int,
    *,
    eta: float,
    key: Any = 0,
    inputs: int = 500,
    shape: str = "tree",
) -> HarmedRuns:
    """One step for every target on its own harmed rows, judged on fresh unpoisoned inputs.

    joined: flags (runs, n) of the bits that may share a sign. shape: one of `SHAPES`.
    """
    keys = fold_keys(as_key(key), np.arange(len(trees)))
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    numbers = (np.float32(eta), np.int32(samples), Harm(*(np.float32(each) for each in harm)))
    with jax.default_matmul_precision("highest"):
        found = _steps(*numbers, leaves, np.asarray(joined), keys, (shape, inputs))
    return HarmedRuns(*map(np.asarray, found))


@eqx.filter_jit
def _steps(
    eta: Any,
    samples: Any,
    harm: Harm,
    leaves: Any,
    joined: Any,
    keys: Any,
    how: tuple[str, int],
) -> HarmedRuns:
    n, (shape, inputs), link = joined.shape[1], how, CosineLink()

    def one(leaves: Any, joined: Any, key: Any) -> HarmedRuns:
        own = jax.random.fold_in(key, 1)
        scores = -eta * harmed_gradient(leaves, joined, harm, samples, own, link, shape)
        model = ChainModel(scores, n, link)

        def test(alpha: Any, number: int) -> tuple[Any, Any]:
            fresh, shifted = jax.random.fold_in(key, number), Harm(alpha, 0.0, 0.0)
            rows = harmed_rows(fresh, leaves, joined, shifted, inputs, shape)
            return 1 - answers(model, rows).wrong / inputs, jnp.mean(rows[:, -1] > 0)

        shifted, plus = test(harm.alpha, 3)
        children = (tree_children if shape == "tree" else line_children)(leaves, n)
        found = _found(scores, children, n)
        return HarmedRuns(found, test(0.0, 2)[0], shifted, jnp.maximum(plus, 1 - plus))

    found: HarmedRuns = over_runs(one, leaves, joined, keys)
    return found


def _found(scores: Array, children: Array, n: int) -> Array:
    """Whether every node's children outscore all else that it sees."""
    nodes = jnp.arange(scores.shape[1])
    seen = jnp.where(visible_tokens(n, len(children) + 1, "token"), scores, -jnp.inf)
    others = seen.at[children.T, nodes[None, :]].set(-jnp.inf)
    least = jnp.min(scores[children.T, nodes[None, :]], axis=0)
    return jnp.all(least > jnp.max(others, axis=0))


LINK = CosineLink()
#: A half point may be this factor from the predicted one. The N from which a single run succeeds
#: scatters by 0.21 in log N at n = 128 and 0.14 above (seed 901), so that the half point of r runs
#: scatters by 1.25·0.21/√r, and it lies up to 0.05 (n = 128), 0.09 (256) and 0.06 (512) from the
#: prediction. With 60, 44 and 24 runs its interval leaves ±ln 1.25 in about 0.5 % of the seeds.
NEAR = 1.25
GOALS = ("every pair found", "every input right")


def _half_of_the_rows(n: int, k: int, grid: np.ndarray, **rest: Any) -> Any:
    return chain_curve(n, k, grid // 2, **rest)


@claim(
    "lab-chain-samples",
    OURS,
    quick={"cells": ((128, 40),), "points": 5},
    full={
        "cells": ((128, 100), (256, 100), (512, 60), (1024, 40), (2048, 30), (4096, 24)),
        "points": 12,
    },
    more="times",
    planted=(
        "a step that sees half of its rows",
        {"cells": ((64, 8), (128, 8)), "curve": _half_of_the_rows},
        "refuted",
    ),
)
def chain_samples(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((128, 60), (256, 44), (512, 24)),
    points: int = 7,
    times: int = 1,
    *,
    curve: Callable[..., Any] = chain_curve,
) -> Iterator[Any]:
    """One teacher-forced step needs nearly n·log n samples, for k = n/2.

    KS asks for n^(2+ε) samples as sufficient. With k = n/2, the link -cos(πt) and a step of
    predicted least error, half of the targets have every pair found at the N at which
    Σ_m E[1 - Φ(SNR + ξ)^(M-2)] = ln 2, and all of 500 fresh inputs right where the expected number
    of broken nodes is ln 2, each within a factor of 1.25; for large n both are n times a linear
    function of log n. N is tried from 0.65 to 1.45 of what is predicted. Each cell is n and a
    number of runs, which times multiplies.
    """
    for n, runs in trial.track(cells):
        formulas = (samples_for_every_pair(n, n // 2), samples_for_every_input(n, n // 2))
        grid = np.geomspace(0.65 * formulas[0], 1.45 * formulas[1], points).astype(int)
        reached = curve(n, n // 2, grid, runs=times * runs, seed=trial.seed, inputs=500)
        for goal, flags, formula in zip(GOALS, reached, formulas, strict=True):
            half = half_point_estimate(grid / formula, flags)
            label = f"rows for {goal} in half of the runs, over those predicted, n = {n}"
            yield within(label, half, 1 / NEAR, NEAR)


#: Harms are tried at these multiples of the predicted limit.
MULTIPLES = (0.5, 0.8, 1.25, 2.0)
#: A rate of runs counts as often from here. At half of a limit about 95 % of the runs are right.
#: Of 48 runs 8 may be wrong before the interval reaches 0.7: more are in 0.1 % of the seeds.
OFTEN = 0.7
#: Bits outside the parity set that share a sign, and a shift of the parity set beyond its limit.
FEW, BEYOND = 8, 0.1
OUTSIDE, INSIDE = f"shift of {FEW} bits outside the parity set", "shift of the parity set"
FLIPS, LIES = "wrong steps at random", "lies about one child"


def _worse_rows(trees: Any, joined: Any, harm: Harm, *rest: Any, **more: Any) -> HarmedRuns:
    return harmed_steps(trees, joined, Harm(*(6 * each for each in harm)), *rest, **more)


@claim(
    "lab-chain-shift",
    OURS,
    quick={"runs": 24, "tried": (OUTSIDE, LIES)},
    full={"size": (128, 64), "samples": 65_536, "runs": 60},
    more="runs",
    planted=(
        "rows harmed six times as much as they say",
        {"steps": _worse_rows, "runs": 12, "tried": (LIES,)},
        "refuted",
    ),
)
def chain_shift(
    trial: Trial,
    size: tuple[int, int] = (64, 32),
    samples: int = 32_768,
    runs: int = 48,
    tried: Sequence[str] = (OUTSIDE, INSIDE, FLIPS, LIES),
    *,
    steps: Callable[..., HarmedRuns] = harmed_steps,
) -> Iterator[Any]:
    """A small shift spares the one-step chain, a larger one is worse than none, n = 64, k = 32.

    With probability α all bits of a set A share one sign, or intermediate steps are stated wrongly.
    For n ≥ 64 and the link -cos(πt) one teacher-forced step is right on 500 fair inputs up to a
    limit and wrong beyond, within a factor of 1.5 of a closed form (near 1/(|A| - 1) for few bits
    outside the parity set, less a logarithm over the score; far less for the parity set itself;
    0.8/s for a lie about one child, s the step's score of the children): it is right in over 70 %
    of runs at half of the closed form, in under 70 % at twice. Past the limit, on inputs with a
    shifted parity set, the chain does worse than one constant answer.
    """
    n, k = size
    trees = random_trees(n, k, runs, key=trial.seed)
    score, eta = step_error(n, k, float(samples), LINK).score, usual_step(n, k, LINK, samples)
    none = np.zeros((runs, n), bool)
    outside = np.stack([joined_bits(tree, FEW, False) for tree in trees])
    inside = np.stack([joined_bits(tree, k, True) for tree in trees])
    # Which bits share a sign, which entry of Harm grows, and its predicted limit.
    harms = {
        OUTSIDE: (outside, "alpha", shift_limit(n, k, FEW, score, LINK).broken),
        INSIDE: (inside, "alpha", shift_limit(n, k, k, score, LINK, inside=True).broken),
        FLIPS: (none, "flips", flips_limit(n, k, float(samples), score, LINK)),
        LIES: (none, "lies", lies_limit(n, k, score, LINK)),
    }

    def done(joined: np.ndarray, harm: Harm) -> HarmedRuns:
        return steps(trees, joined, harm, samples, eta=eta, key=trial.seed)

    for name in trial.track(tried):
        joined, kind, limit = harms[name]
        ended = [done(joined, Harm(**{kind: times * limit})) for times in MULTIPLES]
        right = np.stack([each.uniform == 1 for each in ended])
        half = half_point_estimate(MULTIPLES, ~right)
        label = f"{name}, n = {n}: what half of the runs stand over {limit:.3g} predicted"
        yield within(label, half, 1 / 1.5, 1.5)
        yield at_least(f"{name}, n = {n}: runs right at half of that", Rate.of(right[0]), OFTEN)
        yield at_most(f"{name}, n = {n}: runs right at twice that", Rate.of(right[-1]), OFTEN)
    worse = done(inside, Harm(alpha=BEYOND))
    gap = Mean.of(worse.shifted - worse.constant)
    label = f"accuracy less a constant answer's, parity set shifted by α = {BEYOND:g}, n = {n}"
    yield at_most(label, gap, 0)


#: What is tried, over what is predicted for half of the targets.
AROUND = np.array([0.6, 0.85, 1.2, 1.7])
SHAPE_GOALS = ("rows to find every pair", "rows to be right")


def _half_the_rows(trees: Any, joined: Any, harm: Harm, samples: int, **more: Any) -> HarmedRuns:
    seen = samples if more["shape"] == "tree" else samples // 2
    return harmed_steps(trees, joined, harm, seen, **more)


@claim(
    "lab-tree-or-line",
    OURS,
    quick={"size": (32, 16), "runs": 40, "goals": SHAPE_GOALS[:1]},
    full={"size": (128, 64), "runs": 100},
    more="runs",
    planted=("a line that is shown half of its rows", {"steps": _half_the_rows}, "refuted"),
)
def tree_or_line(
    trial: Trial,
    size: tuple[int, int] = (64, 32),
    runs: int = 40,
    goals: Sequence[str] = SHAPE_GOALS,
    *,
    steps: Callable[..., HarmedRuns] = harmed_steps,
) -> Iterator[Any]:
    """One step learns a line of steps as well as a tree, at n = 64, k = 32.

    Wen et al.'s chain is a line: each step multiplies one more bit, depth k - 1 instead of log2 k.
    In KS's one-step engine with the link -cos(πt), at equal n, k and rows, tree and line have the
    same first gradient to leading order, so half of the targets have every pair found, and all of
    1000 fresh inputs right, from the same N, within a factor of 1.5.
    """
    n, k = size
    trees = random_trees(n, k, runs, key=trial.seed)
    limits = (samples_for_every_pair(n, k), samples_for_every_input(n, k))
    needed = dict(zip(SHAPE_GOALS, limits, strict=True))
    none, usual = np.zeros((runs, n), bool), {"key": trial.seed, "inputs": 1000}

    def half(shape: str, goal: str) -> Estimate:
        """What half of the targets need."""
        flags, tried = [], AROUND * needed[goal]
        for rows in tried.astype(int).tolist():
            eta = usual_step(n, k, LINK, rows)
            done = steps(trees, none, Harm(), rows, eta=eta, shape=shape, **usual)
            flags.append(done.found if goal == SHAPE_GOALS[0] else done.uniform == 1)
        return half_point_estimate(tried, np.stack(flags))

    where = f"n = {n}, k = {k}"
    for goal in trial.track(goals):
        tree, line = (half(shape, goal) for shape in SHAPES)
        yield within(f"{goal}, a line's over a tree's, {where}", quotient(line, tree), 1 / 1.5, 1.5)
        for shape, found in (("tree", tree), ("line", line)):
            yield note(f"{goal}, a {shape}, predicted {needed[goal]:.3g}, {where}", found)
