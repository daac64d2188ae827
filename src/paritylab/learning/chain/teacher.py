"""The chain of thought learned in one step: teacher forcing as a streamed matrix product."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem.sampling import as_key, draw_signs
from paritylab.problem.tree import ParityTree, level_ends, random_tree, tree_tokens
from paritylab.theory.ks import child_signal

#: Rows of samples held at a time.
BATCH = 8192


class ChainRuns(NamedTuple):
    """What one step found for many hidden trees, one entry per run.

    pairs_found: share of inner nodes whose two highest scores are its children. accuracy: share of
    fresh inputs whose generated root has the right sign. error: largest |ŷ - y| over them. scores:
    W after the step.
    """

    trees: tuple[ParityTree, ...]
    pairs_found: np.ndarray
    accuracy: np.ndarray
    error: np.ndarray
    scores: np.ndarray

    @property
    def solved(self) -> np.ndarray:
        """Every pair found and every fresh input right."""
        return (self.pairs_found == 1) & (self.accuracy == 1)


def teacher_gradient(
    tree: ParityTree,
    key,
    samples: int,
    *,
    link: str | AbstractLink = "cos",
    mask: str = "token",
    batch: int = BATCH,
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 with teacher forcing, L = (1/2N) Σ_m ‖φ(ẑ_m) - x_m‖².

    ∂L/∂w_{j,m} = (<r_m, x_j> - <r_m, ẑ_m>)/(N·M) with r_m = (φ(ẑ_m) - x_m)·φ'(ẑ_m), ẑ_m the mean of
    the M tokens m sees: one product XᵀR per batch, only one batch in memory.
    """
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    size = min(batch, 1 << max(6, (samples - 1).bit_length()))
    leaves = np.asarray(tree.leaves)
    return _streamed_gradient(
        as_key(key), leaves, samples, tree.n, tree.k, as_link(link), mask, size
    )


@partial(jax.jit, static_argnames=("n", "k", "link", "mask", "size"))
def _streamed_gradient(key, leaves, samples, n, k, link, mask, size):
    def add(index, total):
        tokens = draw_tokens(jax.random.fold_in(key, index), leaves, n, size)
        kept = index * size + jnp.arange(size) < samples
        return total + batch_gradient(tokens, n, k, link, mask, kept)

    zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
    return jax.lax.fori_loop(0, (samples + size - 1) // size, add, zero) / samples


def draw_tokens(key, leaves, n: int, rows: int) -> Float[Array, "rows tokens"]:
    """Fresh input signs and the true tokens of their chain."""
    return tree_tokens(draw_signs(key, rows, n), leaves)


def batch_gradient(tokens, n: int, k: int, link: AbstractLink, mask: str, kept=None):
    """Sum over rows of the gradient of ½Σ_m(φ(ẑ_m) - x_m)² at W = 0."""
    seen = visible_tokens(n, k, mask).sum(axis=0).astype(np.float32)
    z = uniform_means(tokens, n, k, mask)
    residual = (link(z) - tokens[:, n:]) * link.slope(z) / seen[None, :]
    if kept is not None:
        residual = jnp.where(kept[:, None], residual, 0)
    product = jnp.matmul(tokens.T, residual, precision=jax.lax.Precision.HIGHEST)
    shift = jnp.sum(residual * z, axis=0)
    return jnp.where(visible_tokens(n, k, mask), product - shift[None, :], 0)


def uniform_means(tokens, n: int, k: int, mask: str):
    """ẑ_m at W = 0: the mean of all tokens that node m sees."""
    first = jnp.sum(tokens[:, :n], axis=1, keepdims=True)
    inner = jnp.cumsum(tokens[:, n:], axis=1)
    if mask == "token":
        seen = np.arange(n, n + k - 1, dtype=np.float32)
        return (first + inner - tokens[:, n:]) / seen[None, :]
    ends = level_ends(n, k)
    means = [
        (first if start == n else first + inner[:, start - n - 1 : start - n]) / start
        for start in ends[:-1]
    ]
    widths = np.diff(ends)
    return jnp.concatenate(
        [jnp.repeat(mean, width, axis=1) for mean, width in zip(means, widths, strict=True)], axis=1
    )


def usual_step(n: int, k: int, link: str | AbstractLink = "cos") -> float:
    """η that gives the root's children a score of ln M + 5 above the M tokens it sees.

    About 2.2n² at n = 64 and 2.8n² at n = 1024 for k = n/2: inside the window of step sizes.
    """
    tokens = n + k - 2
    return (np.log(tokens) + 5) / child_signal(tokens, as_link(link))


def train_chain(
    n: int,
    k: int,
    samples: int,
    *,
    runs: int = 20,
    link: str | AbstractLink = "cos",
    mask: str = "token",
    eta: float | None = None,
    fresh: int = 10_000,
    seed: int = 0,
    first: int = 0,
) -> ChainRuns:
    """One teacher-forced step from W = 0 on random hidden trees, judged on fresh inputs.

    >>> bool(train_chain(16, 4, 20_000, runs=2).solved.all())
    True
    """
    eta = usual_step(n, k, link) if eta is None else eta
    if runs < 1 or eta <= 0 or fresh < 1:
        raise ValueError(f"need runs ≥ 1, eta > 0, fresh ≥ 1, got {runs}, {eta}, {fresh}")
    trees, found = [], []
    for run in range(first, first + runs):
        key = jax.random.fold_in(as_key(seed), run)
        tree = random_tree(jax.random.fold_in(key, 0), n, k)
        gradient = teacher_gradient(tree, jax.random.fold_in(key, 1), samples, link=link, mask=mask)
        model = ChainModel(-eta * gradient, n, as_link(link), mask)
        accuracy, error = judge_chain(model, tree, jax.random.fold_in(key, 2), fresh)
        trees.append(tree)
        found.append((pairs_found(model.scores, tree), accuracy, error, np.asarray(model.scores)))
    columns = [np.asarray(column) for column in zip(*found, strict=True)]
    return ChainRuns(tuple(trees), *columns)


class ChainCurve(NamedTuple):
    """After N rows of its own growing stream, has a run found every pair, and is it solved?

    Flags (N, runs); solved also asks for every one of 2,000 fresh inputs.
    """

    samples: np.ndarray
    found: np.ndarray
    solved: np.ndarray


def chain_curve(
    n: int, k: int, samples, *, runs: int, link: str | AbstractLink = "cos", seed: int = 0
) -> ChainCurve:
    """One teacher-forced step from growing prefixes of a stream, for a grid of N."""
    grid = np.asarray(samples, dtype=int)
    eta, found = usual_step(n, k, link), np.zeros((grid.size, runs), dtype=bool)
    solved = found.copy()
    for run in range(runs):
        key = jax.random.fold_in(as_key(seed), run)
        tree = random_tree(jax.random.fold_in(key, 0), n, k)
        total, done = np.zeros((n + k - 1, k - 1)), 0
        for at, size in enumerate(grid.tolist()):
            more = teacher_gradient(tree, jax.random.fold_in(key, 2 + at), size - done, link=link)
            total, done = total + (size - done) * np.asarray(more, dtype=np.float64), size
            model = ChainModel((-eta / done * total).astype(np.float32), n, as_link(link))
            found[at, run] = pairs_found(model.scores, tree) == 1
            if found[at, run]:
                solved[at, run] = judge_chain(model, tree, jax.random.fold_in(key, 1), 2000)[0] == 1
    return ChainCurve(grid, found, solved)


def pairs_found(scores, tree: ParityTree) -> float:
    """Share of inner nodes whose two highest visible scores are exactly their children."""
    visible = visible_tokens(tree.n, tree.k, "token")
    open_scores = np.where(visible, np.asarray(scores), -np.inf)
    top = np.sort(np.argpartition(-open_scores, 2, axis=0)[:2], axis=0).T
    return float(np.mean(np.all(top == np.sort(tree.children, axis=1), axis=1)))


def judge_chain(model: ChainModel, tree: ParityTree, key, rows: int) -> tuple[float, float]:
    """Accuracy and largest error of the generated root on fresh inputs."""
    right, error = _judge(model, np.asarray(tree.leaves), as_key(key), rows)
    return float(right), float(error)


@partial(jax.jit, static_argnames="rows")
def _judge(model, leaves, key, rows: int):
    tokens = draw_tokens(key, leaves, model.n, rows)
    root = model.generate(tokens[:, : model.n])[:, -1]
    return jnp.mean(root * tokens[:, -1] > 0), jnp.max(jnp.abs(root - tokens[:, -1]))
