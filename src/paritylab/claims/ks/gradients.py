"""Lemmas 4 and 6: gradients with and without teacher forcing stay bounded."""

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims import KS, Comparison, Trial, at_most, claim, note
from paritylab.claims.engine.hunt import hunt
from paritylab.models import LINKS, AbstractLink, ChainModel
from paritylab.problem import ParityTree
from paritylab.theory.ks import lemma4_bound, lemma6_squares

#: What a number may be off by rounding.
ROUNDING = 1e-9
Cells = Sequence[tuple[int, int]]
CELLS, SOME_LINKS = ((6, 4), (10, 8)), ("quadratic", "gentle")
#: The norm over its power of n may grow by this factor from the first size to the last.
GROWTH = 1.5
#: What changes of an ascent at other efforts.
QUICK = {"links": ("gentle",), "starts": 12, "steps": 60}
FULL = {"cells": (*CELLS, (20, 16)), "links": tuple(LINKS), "starts": 64, "steps": 500}


def _largest_norm(
    n: int, k: int, link: AbstractLink, forced: bool, *, starts: int, steps: int, seed: int
) -> float:
    """The largest ‖∇_W f‖ an ascent finds, over scores and inputs; f has k - 1 outputs."""
    tree = ParityTree(n, tuple(range(k)))

    def outputs(scores: Any, signs: Any) -> Any:
        model = ChainModel(scores, n, link, "token" if forced else "level")
        if forced:
            return link(model.attention().T @ tree.tokens(signs))
        return model.generate(signs)[n:]

    def minus_norm(scores: Any, signs: Any) -> Any:
        jacobian = jax.jacobian(outputs)(scores, signs)
        return -jnp.sqrt(jnp.sum(jacobian**2) + 1e-30)

    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return 2 * generator.normal(size=(n + k - 1, k - 1)), generator.choice([-1.0, 1.0], n)

    return -hunt(minus_norm, draw, starts=starts, steps=steps, rate=0.1, seed=seed).margin


def _ascents(
    trial: Trial, cells: Cells, links: Sequence[str], forced: bool, constant: float, **search: int
) -> Iterator[Comparison]:
    """Every link at every size: the largest norm over the bound of Lemma 4 (forced) or 6.

    Then how the norm grows from the first size to the last, over the power of n that the lemma
    names: n^½, or n^g with g = log2‖φ'‖∞ + 1/2. An order of growth needs two sizes.
    """
    scaled: dict[str, list[float]] = {name: [] for name in links}
    for n, k, name in trial.track([(n, k, name) for n, k in cells for name in links]):
        link = LINKS[name]
        norm = _largest_norm(n, k, link, forced, seed=trial.seed, **search)
        bound = lemma4_bound(k, link) if forced else np.sqrt(lemma6_squares(k, link)[2])
        case = f"n = {n}, k = {k}, link {name}"
        yield at_most(f"largest norm over the bound, {case}", norm / bound / constant, 1 + ROUNDING)
        scaled[name].append(norm / n ** (0.5 if forced else np.log2(link.steepest) + 0.5))
    growth = max(norms[-1] / norms[0] for norms in scaled.values())
    order = "√n" if forced else "n^g"
    yield at_most(f"growth of the norm over {order}, first size to last, largest", growth, GROWTH)


@claim(
    "ks-lemma4",
    KS("Lemma 4"),
    quick=QUICK,
    full=FULL,
    evidence="numerical",
    planted=("a twentieth of the bound", {"constant": 0.05}, "refuted"),
)
def lemma4(
    trial: Trial,
    cells: Cells = CELLS,
    links: Sequence[str] = SOME_LINKS,
    starts: int = 24,
    steps: int = 150,
    *,
    constant: float = 1.0,
) -> Iterator[Any]:
    """Gradients under teacher forcing are of order √n, searched at n = 6 and 10.

    ‖∇_W f°(x; W)‖ = O(√n) for all x and W; the proof's bound is 2‖φ'‖∞·√(k-1). Adam ascends the
    norm over W from random W and x.
    """
    search = {"starts": starts, "steps": steps}
    yield from _ascents(trial, cells, links, True, constant, **search)


@claim(
    "ks-lemma6",
    KS("Lemma 6"),
    quick=QUICK,
    full=FULL,
    evidence="numerical",
    planted=("a twentieth of the bound", {"constant": 0.05}, "refuted"),
)
def lemma6(
    trial: Trial,
    cells: Cells = CELLS,
    links: Sequence[str] = SOME_LINKS,
    starts: int = 24,
    steps: int = 150,
    *,
    constant: float = 1.0,
) -> Iterator[Any]:
    """Gradients of the self-generated chain are of order n^g, searched at n = 6 and 10.

    ‖∇_W f×‖ = O(n^g) for all x and W, g = log2‖φ'‖∞ + 1/2. The bound is the square root of
    4κ⁴/((κ²-2)(2κ²-1))·(2κ²)^v, κ = ‖φ'‖∞, v = log2 k, which is of order n^g. The proof's last line
    prints κ² for κ⁴ and falls below the line before it; the order does not change. Adam ascends the
    norm over W from random W and x.
    """
    search = {"starts": starts, "steps": steps}
    yield from _ascents(trial, cells, links, False, constant, **search)
    squares = [lemma6_squares(k, LINKS[name]) for _, k in cells for name in links]
    slip = max(last / before for before, last, _ in squares)
    yield note("the proof's last line over the line before it, largest", slip)
