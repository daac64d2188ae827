"""Every system that the papers describe or measure themselves against is one `learn` call.

The rows are those of the table of systems: k heads and their rivals, the XOR transformer with three
kinds of attention, the chains of thought, networks of the neighbours, elimination over GF(2), and
functions beyond parity. Constructions and inference by hard attention are models, not learners;
they are built and called.
"""

import numpy as np
import pytest

from paritylab.learning import (
    FeedForwardNet,
    Fresh,
    FrozenAttention,
    FullBatch,
    Heads,
    HidingOracle,
    HingeNet,
    Levels,
    Population,
    RecurrentNet,
    Sample,
    SignDescent,
    TeacherStep,
    Transformer,
    learn,
)
from paritylab.learning.classical_solvers import Elimination
from paritylab.models import HeadAttention, parity_network, parity_transformer
from paritylab.problem import Junta, Parity, random_parities, random_trees

X64_MODES = [False]

PARITIES = random_parities(8, 2, 2)
PAIRS = Population(random_parities(16, 2, 2, sign=-1))
TREES = Sample(random_trees(8, 4, 2), 400)
DNA = Junta.of(8, (1, 4, 6), lambda bits: 1.0 if sum(bits) == 1 else -1.0)

SYSTEMS = {
    "k heads, learned attention": (Heads.code(steps=20), Population(PARITIES)),
    "k heads, fixed attention": (FrozenAttention(width=8, steps=20), Population(PARITIES)),
    "FFNN-1": (FeedForwardNet(8, steps=20), Population(PARITIES)),
    "XOR transformer, softmax": (Heads.pair(width=16), PAIRS),
    "XOR transformer, linear": (Heads.pair(width=16, attention="linear"), PAIRS),
    "XOR transformer, component-wise": (Heads.pair(width=16, attention="sigmoid"), PAIRS),
    "chain of thought, teacher forcing": (TeacherStep(), TREES),
    "chain of thought, filter and integers": (Levels(strings=16), TREES),
    **{
        f"practical chain of thought, {mode}": (FullBatch(mode, steps=5), TREES)
        for mode in ("direct", "cot", "teacher-full", "selfcheck")
    },
    "end-to-end with an approximate gradient oracle": (HidingOracle(0.01, steps=5), TREES),
    "Elman network, intermediate supervision": (
        RecurrentNet(width=8, steps=5),
        Fresh(PARITIES, 8),
    ),
    "ordinary transformer, sequential chain": (
        Transformer(width=8, steps=5),
        Fresh(PARITIES, 8),
    ),
    "ordinary transformer, tree": (Transformer("tree", width=8, steps=5), TREES),
    "Daniely-Malach network, biased inputs": (
        HingeNet.daniely_malach(width=8, steps=20),
        Fresh(PARITIES, 8),
    ),
    "sign-SGD network": (SignDescent.kou(steps=5), Population(PARITIES)),
    "elimination over GF(2)": (Elimination(), Sample(PARITIES, 40)),
    "sparse regression": (
        FeedForwardNet(8, steps=20),
        Sample(Junta.staircase(8, (1, 4, 6)), 60),
    ),
    "a sparse function of a string": (Heads.annealed(steps=30), Population(DNA)),
}


@pytest.mark.grid(6)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_is_one_call(name):
    learner, data = SYSTEMS[name]
    runs = learn(learner, data)
    assert len(runs) == data.runs
    assert np.isfinite(runs.risk).all()
    assert np.isfinite(float(runs.model(0)(np.zeros(data.n))))


def test_constructions_and_hard_attention_are_models():
    target, bits = Parity(6, (1, 4)), np.array([0.0, 1, 0, 0, 0, 0])
    hard = HeadAttention.on(target, kind="hard")
    for model in (hard, parity_network(target), parity_transformer(target, hard=True)):
        assert float(model(bits)) == pytest.approx(-1.0, abs=1e-4)
