"""One table of learners, each with data it takes: a row gives a learner the common tests."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from paritylab.learning import (
    Descent,
    FeedForwardNet,
    Fresh,
    FrozenAttention,
    FullBatch,
    Heads,
    HidingOracle,
    HingeNet,
    Layers,
    Levels,
    OneStep,
    Population,
    RecurrentNet,
    Rows,
    Sample,
    SignDescent,
    TeacherStep,
    Transformer,
)
from paritylab.learning.classical_solvers import (
    Auto,
    Correlation,
    Elimination,
)
from paritylab.problem import Parity, random_parities, random_trees, sample


class Case(NamedTuple):
    """A learner, quick settings, and data for four runs that start at run `first`."""

    name: str
    learner: Any
    data: Any

    def data_from(self, first: int, runs: int) -> Any:
        return self.data(first, runs)


class TwoLayers(eqx.Module):
    """A user's own model: nothing of the lab in it."""

    inner: eqx.nn.Linear
    outer: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.inner = eqx.nn.Linear(8, 6, key=first)
        self.outer = eqx.nn.Linear(6, "scalar", key=second)

    def __call__(self, bits):
        return self.outer(jnp.tanh(self.inner(bits)))


def parities(n=8, k=2, **options):
    return lambda first, runs: random_parities(n, k, runs, first=first, **options)


def on(kind, targets, *more):
    return lambda first, runs: kind(targets(first, runs), *more)


def rows(first, runs):
    batch = sample(Parity(8, (1, 4)), key=0, size=200)
    return Rows(batch.bits, batch.labels)


def trees(n=12, k=4):
    return lambda first, runs: random_trees(n, k, runs, first=first)


CASES = [
    Case("heads", Heads.code(steps=30), on(Population, parities())),
    Case("heads-paper", Heads.paper(steps=30), on(Population, parities(k=3))),
    Case("heads-inputs", Heads.code(steps=20), on(Population, parities(), "enumeration")),
    Case("heads-sample", Heads.code(steps=20), on(Sample, parities(noise=0.1), 60)),
    Case("heads-fresh", Heads.code(steps=20), on(Fresh, parities(bias=0.3), 30)),
    Case("heads-rows", Heads.code(steps=20, k=2), rows),
    Case("anneal", Heads.annealed(steps=60, restarts=1), on(Population, parities())),
    Case("anneal-sample", Heads.annealed(steps=60), on(Sample, parities(), 300)),
    Case("anneal-rows", Heads.annealed(steps=60, k=2), rows),
    Case("descent", Descent(TwoLayers, steps=30), on(Population, parities())),
    Case("descent-rows", Descent(TwoLayers, steps=30, batch=16), rows),
    Case(
        "feedforward",
        FeedForwardNet(8, inputs="signs", steps=30),
        on(Fresh, parities(bias=0.3), 30),
    ),
    Case("feedforward-rows", FeedForwardNet(8, steps=30), rows),
    Case("frozen", FrozenAttention(width=8, steps=30), on(Sample, parities(), 60)),
    Case(
        "recurrent",
        RecurrentNet(labels=False, width=8, steps=20),
        on(Fresh, parities(noise=0.1), 8),
    ),
    Case(
        "hinge-net",
        HingeNet.barak(width=16, steps=30),
        on(Fresh, parities(noise=0.1, bias=0.3), 8),
    ),
    Case(
        "hinge-net-mixed",
        HingeNet.daniely_malach(width=16, steps=30, shared_first=0.3),
        on(Fresh, parities(k=3), 8),
    ),
    Case("sign-descent", SignDescent(steps=20), on(Population, parities(k=3))),
    Case("sign-descent-fresh", SignDescent(steps=20), on(Fresh, parities(sign=-1), 60)),
    Case("xor", Heads.pair(width=12), on(Population, parities(n=10, sign=-1))),
    Case(
        "xor-fresh",
        Heads.pair(width=8, attention="sigmoid", steps=3, start=0.01),
        on(Fresh, parities(n=8, sign=-1, noise=0.1), 40),
    ),
    Case("one-step", OneStep(width=24), on(Population, parities(n=10, k=3))),
    Case("teacher", TeacherStep(mask="level", link="gentle"), on(Sample, trees(), 2000)),
    Case("levels", Levels(strings=32), on(Sample, trees(), 4000)),
    Case("layers", Layers(schedule="staged", gates="learnt"), on(Sample, trees(), 2000)),
    Case("full-batch", FullBatch("teacher-full", steps=12), on(Sample, trees(), 400)),
    Case("hiding-oracle", HidingOracle(0.01, steps=12), on(Sample, trees(), 400)),
    Case(
        "transformer",
        Transformer(width=8, heads=2, steps=20, check=10),
        on(Fresh, parities(k=3, noise=0.1), 16),
    ),
    Case(
        "transformer-tree",
        Transformer("again", layers=2, width=8, heads=2, steps=12),
        on(Sample, trees(8), 40),
    ),
    Case("auto", Auto(), on(Sample, parities(n=10, k=3, noise=0.1), 80)),
    Case("auto-abstains", Auto(), on(Sample, parities(n=10, k=3, bias=0.3), 12)),
    Case("auto-rows", Auto(), rows),
    Case("elimination", Elimination(), on(Sample, parities(n=12, k=5, sign=-1), 60)),
    Case("correlation", Correlation(), on(Sample, parities(n=12, k=3, noise=0.1), 100)),
]
