"""Functions of a few hidden bits, and in how many steps a net learns them."""

from collections.abc import Callable, Sequence

import jax
import numpy as np

from paritylab.learning import Fresh, HingeNet, learn
from paritylab.models.feedforward import ARRAYS
from paritylab.models.protocol import with_parameters
from paritylab.problem import Junta, random_junta

Subset = Sequence[int]
#: One drawn table of 16 signs, the same in every run.
_TABLE = random_junta(3, 4, 4).table


def _parity(n: int, subset: Subset) -> Junta:
    return Junta.of(n, subset, lambda x: 1 - 2 * (x.sum() % 2))


def _two_parities(n: int, subset: Subset) -> Junta:
    return Junta.from_parities(n, {tuple(subset[:2]): 1.0, tuple(subset[2:]): 1.0})


#: Functions by name: number of bits, and the junta on a set.
FUNCTIONS: dict[str, tuple[int, Callable[[int, Subset], Junta]]] = {
    "parity of 2": (2, _parity),
    "AND of 2": (2, Junta.conjunction),
    "parity of 3": (3, _parity),
    "majority of 3": (3, Junta.majority),
    "AND of 3": (3, Junta.conjunction),
    "multiplexer of 3": (3, lambda n, s: Junta.multiplexer(n, s[:1], s[1:])),
    "staircase of 3": (3, Junta.staircase),
    "not all equal of 3": (3, Junta.not_all_equal),
    "parity of 4": (4, _parity),
    "two parities of 2": (4, _two_parities),
    "random table of 4": (4, lambda n, s: Junta(n, tuple(s), _TABLE)),
    "not all equal of 4": (4, Junta.not_all_equal),
    "parity of 5": (5, _parity),
    "majority of 5": (5, Junta.majority),
}


def draw_targets(name: str, n: int, runs: int, seed: int) -> list[Junta]:
    """The function on `runs` random sets, in random order."""
    k, build = FUNCTIONS[name]
    generator = np.random.default_rng([seed, list(FUNCTIONS).index(name)])
    return [build(n, generator.choice(n, size=k, replace=False).tolist()) for _ in range(runs)]


def count_steps_of_net(targets: Sequence[Junta], steps: int, seed: int) -> np.ndarray | None:
    """Steps until each net has 95 % accuracy, to the next 20."""
    if not targets[0].is_boolean:
        return None
    runs = learn(HingeNet(64, steps=steps), Fresh(targets, 32), key=seed, trace=20)
    bits = np.random.default_rng(seed).integers(0, 2, (1024, targets[0].n)).astype(float)
    at = []
    for run, target in enumerate(targets):
        net, labels = runs.model(run), np.asarray(target.label(bits))
        path = {name: runs.trace[name][run] for name in ARRAYS}
        made = jax.vmap(lambda now, net=net: jax.vmap(with_parameters(net, now))(bits))(path)
        right = np.mean(labels * np.asarray(made) > 0, axis=1) >= 0.95
        at.append(runs.trace["step"][right.argmax()] if right.any() else np.inf)
    return np.array(at)
