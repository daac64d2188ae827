"""What makes no sense is refused in one line that says what to do: one row per mistake."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning import (
    Chain,
    Descent,
    Elimination,
    FeedForwardNet,
    Fresh,
    FrozenAttention,
    Heads,
    HingeNet,
    Layers,
    OneStep,
    Population,
    RecurrentNet,
    Rows,
    Sample,
    SignDescent,
    Transformer,
    learn,
)
from paritylab.problem import Corruption, Junta, Parity, random_parities, random_tree, random_trees

X64_MODES = [False]
ONE, XOR = Parity(8, (1, 4)), Parity(8, (1, 4), sign=-1)
ON_ONE, ON_XOR = Population(ONE), Population(XOR)
AND, TREE = Junta.conjunction(8, (0, 3)), random_tree(0, 8, 4)
SIZES = iter((3, 4))


def xor(data=ON_XOR, **settings):
    return learn(Heads.pair(**settings), data)


def with_an_if(s):
    return s if s > 1 else -s


def other_shapes(key):
    return eqx.nn.MLP(8, "scalar", next(SIZES), 1, key=key)


FRAME = [
    (lambda: learn(Heads, ON_ONE), r"give a learner object: Heads\(\)"),
    (lambda: learn(Heads(), [ONE]), "data must be one of Population"),
    (lambda: learn(Heads(), ON_ONE, runs=0), "runs must be at least 1"),
    (lambda: learn(Heads(), Population([ONE, ONE]), runs=3), "2 targets for runs=3"),
    (lambda: learn(Heads(), ON_ONE, trace=0), "trace must be"),
    (lambda: Population([ONE, Parity(8, (1,))]), "equal n and k"),
    (lambda: Population([]), "targets must be parities"),
    (lambda: Population(ONE, "rows"), "route must be one of auto, enumeration"),
    (lambda: learn(FeedForwardNet(), Population(Parity(30, (1,)))), "all inputs up to n = 20"),
    (lambda: Sample(ONE, 9, Corruption(flips=0.7)), "flips must be a share below 0.5"),
    (lambda: Sample(ONE, 9, 0.1), "corruption must be a Corruption"),
    (lambda: learn(Heads(), Fresh(ONE, 9, Corruption(tokens=0.1))), "no chain of thought"),
    (lambda: learn(Layers(), Sample(TREE, 99, Corruption(tokens=0.1))), "Layers learns from right"),
    (lambda: Sample(ONE, 0), "samples must be a whole number"),
    (lambda: Fresh(ONE, 2.5), "samples must be a whole number"),
    (lambda: Rows(np.zeros((4, 3)), [0, 1, 0, 1]), r"labels must be \+1 or -1"),
    (lambda: Rows(np.full((4, 3), 2), [1, 1, 1, -1]), "bits must be 0 or 1"),
    (lambda: Rows(np.zeros((4, 3)), [1, 1, 1, -1], held_out=1.5), "held_out"),
]

HEADS = [
    (lambda: Heads(jitter=0.1), "they need unit=True"),
    (lambda: Heads.annealed(positions="onehot"), "unit heads train their angles on the circle"),
    (lambda: Heads(gain=2.0), "gain is the step size of the readout .pair."),
    (lambda: learn(Heads.pair(gain=2.0, loss="hinge"), ON_XOR), "plain descent on the squared"),
    (lambda: learn(Heads(readout="cos", trains="readout"), ON_ONE), "has no numbers to train"),
    (lambda: Heads(trains=("directions", "positions")), "trains must name"),
    (lambda: Heads(start=-1.0), "start must be one of unit, zero, spaced or the variance"),
    (
        lambda: learn(Heads(attention="sigmoid"), Population(Parity(30, (1, 2)))),
        "no closed form of this risk is known",
    ),
    (lambda: Heads(tau="bits/4"), "tau must be a number, a formula"),
    (lambda: Heads(tau=-1.0), "tau must be positive"),
    (lambda: Heads(tau="n/0"), "float division by zero"),
    (lambda: Heads(optimiser=lambda eta: eta), r"<lambda>\(eta\) must give an optax optimiser"),
    (lambda: Heads(attention=lambda scores: scores.sum()), "a weight per score"),
    (lambda: learn(Heads(positions=np.zeros((3, 2))), ON_ONE), "has 3 positions, .* n=8"),
    (lambda: learn(Heads(readout=lambda s: 1.0), ON_ONE), "readout"),
    (lambda: learn(Heads(readout=with_an_if), ON_ONE), "jnp.where"),
    (lambda: learn(Heads(start=np.zeros((1, 3, 2))), ON_ONE), "start must be finite numbers"),
    (lambda: learn(Heads(), Population(Parity(6, ()))), "at least one position"),
    (
        lambda: learn(Heads(), Population(Junta.of(8, (0, 3), lambda x: 1 - 2 * x[0]))),
        "give readout=",
    ),
    (
        lambda: learn(Heads(), Population([AND, Junta.not_all_equal(8, (1, 5))])),
        "different values need runs of their own",
    ),
    (lambda: learn(OneStep(positions="onehot", width=5), ON_ONE), "has width 8"),
    (lambda: learn(OneStep(width=100), Population(Parity(10**6, (1,)))), "smaller width"),
    (lambda: learn(OneStep(), Population(Parity(8, ()))), "at least one bit"),
    (lambda: learn(OneStep(), Sample(ONE, 10)), "takes Population"),
]

PAIRS = [
    (lambda: xor(Population(Parity(2, (0, 1), sign=-1))), "needs n ≥ 3"),
    (lambda: xor(ON_ONE), "sign=-1"),
    (lambda: xor(Population(Parity(8, (1, 4, 5), sign=-1))), "random_parities"),
    (lambda: xor(Population(AND)), "sign=-1.; got a Junta"),
    (lambda: xor(positions="onehot", width=5), "has width 8, got width=5"),
    (lambda: xor(attention=jnp.ones_like), "does not respond"),
    (lambda: xor(Population(Parity(10**6, (1, 4), sign=-1)), width=90), "streamed_step"),
]

CHAINS = [
    (lambda: random_trees(16, 6, 1), "nearest: 4 and 8"),
    (lambda: Chain.theorem5(link=lambda t: t), "needs φ"),
    (lambda: learn(Chain.theorem7(), Sample(ONE, 9)), "give random_trees"),
]

NETWORKS = [
    (lambda: Transformer(width=10), "width must be a multiple of heads=4, got 10"),
    (lambda: Transformer("tree", gap=2), "gap is for the chain line"),
    (lambda: learn(Transformer("tree"), Fresh(random_parities(8, 3, 1), 8)), "nearest: 2 and 4"),
    (lambda: learn(Transformer(), Fresh(AND, 8)), "learns a Parity or a ParityTree, got a Junta"),
    (lambda: Descent(other_shapes, optimiser=jnp.cos), "must give an optax optimiser, got "),
    (lambda: learn(Descent(other_shapes, steps=2), Population(ONE), runs=2), "models of one shape"),
    (lambda: learn(Descent(other_shapes, batch=4), Fresh(ONE, 9)), "Fresh draws its 9 samples"),
    (lambda: learn(FeedForwardNet(), Sample(TREE, 9)), "got a ParityTree"),
    (lambda: learn(FrozenAttention(), Population(Parity(30, (1,)))), "all inputs up to n = 20"),
    (lambda: learn(RecurrentNet(), Population(ONE)), "it takes Sample, Fresh"),
    (lambda: learn(RecurrentNet(), Fresh(AND, 8)), "got a Junta"),
    (lambda: learn(HingeNet.daniely_malach(width=7), Fresh(ONE, 8)), "width is even"),
    (lambda: learn(SignDescent(), Population(Parity(8, (1,)))), "k ≥ 2"),
    (lambda: learn(SignDescent(), Population(random_parities(8, 2, 1, bias=0.2))), "fair bits"),
    (lambda: learn(Elimination(), Sample(TREE, 50)), "trees of parities"),
]


@pytest.mark.parametrize(("call", "words"), [*FRAME, *HEADS, *PAIRS, *CHAINS, *NETWORKS])
def test_what_makes_no_sense_is_one_line(call, words):
    with pytest.raises(ValueError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)
