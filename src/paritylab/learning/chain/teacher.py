"""One teacher-forced step: its gradient from a stream of rows, and how many rows it needs."""

from collections.abc import Sequence

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float

from paritylab._support.checks import shortened, whole
from paritylab.learning.chain.evaluation import judge_chain, pairs_found
from paritylab.learning.chain.objective import first_gradient
from paritylab.learning.chain.rows import Stream
from paritylab.learning.chain.step_sizes import usual_step
from paritylab.learning.contract import LinkPart
from paritylab.learning.data import MOST_ROWS
from paritylab.models.chain import MASKS, ChainModel
from paritylab.models.links import as_link
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import each_key, fold_keys
from paritylab.problem.tree import ParityTree, random_trees


def teacher_gradient(
    tree: ParityTree,
    key: int | Array,
    samples: int,
    *,
    link: LinkPart = "cos",
    mask: str = "token",
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 with teacher forcing, L = (1/2N) Σ_m ‖φ(ẑ_m) - x_m‖².

    Batch i of the rows comes from fold_in(key, i); only one batch is in memory.
    """
    samples = whole("samples", samples, 1, MOST_ROWS)
    if not isinstance(mask, str) or mask not in MASKS:
        raise ValueError(f"mask must be one of {', '.join(MASKS)}, got {shortened(mask)}")
    rows = Stream.of(np.asarray(tree.leaves), as_key(key), samples, tree.n)
    return _compiled_gradient(as_link(link), rows, tree.n, tree.k, mask)


_compiled_gradient = eqx.filter_jit(first_gradient)


def chain_curve(
    n: int, k: int, samples: Sequence[int] | np.ndarray, *, runs: int, seed: int = 0, inputs: int
) -> tuple[Bool[np.ndarray, "sizes runs"], Bool[np.ndarray, "sizes runs"]]:
    """After N rows of its own growing stream: has a run found every pair, and is it right too?

    Every N has its own `usual_step`. Run i draws its tree and its rows from fold_in(seed, i). The
    sum over a prefix of the stream grows with N, so all N together cost as many rows as the
    largest. inputs: how many fresh ones must be right, asked only where every pair was found.
    """
    etas = [usual_step(n, k, samples=int(size)) for size in samples]
    found, right = np.zeros((2, len(etas), runs), bool)
    keys = each_key(fold_keys(as_key(seed), np.arange(runs)))
    for run, (tree, key) in enumerate(zip(random_trees(n, k, runs, key=seed), keys, strict=True)):
        total, leaves = np.zeros((tree.size, k - 1), np.float32), np.asarray(tree.leaves, np.int32)
        for at, (more, eta) in enumerate(zip(np.diff(samples, prepend=0), etas, strict=True)):
            gradient = teacher_gradient(tree, jax.random.fold_in(key, 2 + at), int(more))
            total = total + more * np.asarray(gradient)  # a mean over the new rows, made a sum
            model = ChainModel((-eta / samples[at] * total).astype(np.float32), n)
            found[at, run] = pairs_found(model.scores, leaves) == 1
            if found[at, run]:
                fresh = jax.random.fold_in(key, 1)
                right[at, run] = judge_chain(model, tree, fresh, inputs) == 1
    return found, right
