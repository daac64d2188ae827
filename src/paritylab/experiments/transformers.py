"""Transformers on fresh rows: training, medians of the rows they read, where attention looks."""

from collections.abc import Sequence

import equinox as eqx
import jax
import numpy as np
from numpy.typing import ArrayLike

from paritylab.learning import Fresh, Runs, Transformer, learn
from paritylab.models.transformer import MARK, Decoder
from paritylab.problem import random_parities
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs
from paritylab.statistics import Estimate


def measure_attention_on(runs: Runs[Decoder], shift: int, seed: int) -> np.ndarray:
    """Attention of the best head on every slot's missing bit, or `shift` bits further on; runs."""
    assert isinstance(runs.learner, Transformer)
    n, found = runs.data.n, []
    bits = (np.asarray(draw_signs(as_key(seed), 256, n)) < 0).astype(np.int32)
    for run, target in enumerate(runs.targets):
        plan, model = runs.learner.plan_of(target), runs.model(run)
        chain = bits @ plan.sums.T % 2
        read = np.column_stack([bits, np.full(len(bits), MARK), chain[:, :-1]])
        weights = np.asarray(_attention(model, read)).max(axis=0)
        wanted = np.roll(plan.parents[:, :n], shift, axis=1)
        found.append(weights[:, :n][wanted].mean())
    return np.array(found)


@eqx.filter_jit
def _attention(model: Decoder, read: np.ndarray) -> jax.Array:
    return jax.vmap(lambda each: model.outcome(each).attention)(read).mean(axis=0)


#: Fresh rows per step.
BATCH = 64


def train_on_fresh_rows(
    learner: Transformer, n: int, k: int, runs: int, seed: int
) -> Runs[Decoder]:
    """Runs on fresh rows of random parities; targets and starts come from the seed."""
    return learn(learner, Fresh(random_parities(n, k, runs, key=seed), BATCH), key=seed)


def _medians(groups: Sequence[ArrayLike]) -> list[np.ndarray]:
    """The median logarithm of each group of numbers, (groups,), and those of 2,000 groups resampled
    from it, (groups, 2000)."""
    generator, logs = np.random.default_rng(0), [np.log(np.asarray(each)) for each in groups]
    drawn = [each[generator.integers(0, len(each), (2000, len(each)))] for each in logs]
    return [np.array([np.median(x, axis=-1) for x in each]) for each in (logs, drawn)]


def median_of(rows: ArrayLike, over: ArrayLike | None = None, times: float = 1.0) -> Estimate:
    """The median of a row count per run, over the median of others if given, with a 95 % interval.

    A run that was not solved counts with the rows it read, so its median is a lower bound.
    """
    groups = [rows] if over is None else [rows, over]
    middle, drawn = ((-1.0) ** np.arange(len(groups)) @ each for each in _medians(groups))
    low, high = np.exp(np.percentile(drawn, [2.5, 97.5])) * times
    return Estimate(
        float(np.exp(middle)) * times, float(low), float(high), sum(map(np.size, groups))
    )


def median_rows(
    runs: Runs[Decoder], over: Runs[Decoder] | None = None, times: float = 1.0
) -> Estimate:
    """Median rows until solved, over those of other runs if given."""
    return median_of(runs.stats["rows"], None if over is None else over.stats["rows"], times)


def growth_exponent(sizes: Sequence[int], groups: Sequence[ArrayLike]) -> Estimate:
    """Exponent of n in the median row count, with a 95 % interval. groups: one per size."""
    slope, drawn = (np.polyfit(np.log(sizes), each, 1)[0] for each in _medians(groups))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(float(slope), float(low), float(high), sum(np.size(each) for each in groups))
