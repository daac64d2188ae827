"""Appendix B: the first gradient on children and elsewhere, expected and from samples."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.models import CosineLink
from paritylab.models.chain import visible_tokens
from paritylab.problem import random_tree
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import row_law
from paritylab.theory.ks_gradient import (
    TokenKind,
    level_gradient,
    term_7,
)

LINK = CosineLink()
#: ε of N = n^(2+ε) in the samples.
EPSILON = 0.5
Law = Callable[..., tuple[TokenKind, ...]]


class ExactNode(NamedTuple):
    """The expected gradient of a node that sees M tokens, all inputs at once.

    child: -∂L/∂w on a child over 2c/M². elsewhere: largest |∂L/∂w| off the children.
    """

    n: int
    level: int
    tokens: int
    child: float
    elsewhere: float

    @property
    def is_root(self) -> bool:
        return self.level == (self.n // 2).bit_length() - 1


def expected_node_gradient(n: int, level: int, law: Law) -> ExactNode:
    """The law of the expected gradient at one node of a level, k = n/2."""
    child, *others = law(n, n // 2, level, LINK)
    tokens = level_ends(n, n // 2)[level - 1]
    share = -child.gradient * tokens**2 / (2 * LINK.curvature)
    return ExactNode(n, level, tokens, share, max(abs(kind.gradient) for kind in others))


def power_of_tokens(nodes: Sequence[ExactNode], values: Sequence[float]) -> float:
    """d ln(value)/d ln(tokens) from the first node to the last; -∞ if the last value is 0."""
    if values[-1] == 0:
        return float("-inf")
    return float(np.log(values[-1] / values[0]) / np.log(nodes[-1].tokens / nodes[0].tokens))


def rest_of_term_7(n: int) -> float:
    """Largest |expected value| of the term (7) over the root's tokens, less its leading part."""
    k = n // 2
    level, tokens = k.bit_length() - 1, level_ends(n, k)[-2]
    values = [kind.gradient for kind in level_gradient(n, k, level, LINK, term_7)]
    values[0] += 2 * LINK.curvature / tokens**2
    return float(np.abs(values).max())


class SampledStep(NamedTuple):
    """The gradient from N = n^(2+ε) rows, nodes of every level together.

    child: mean over children of measured over exact, error: its standard error. noise: root mean
    square elsewhere over its formula. elsewhere: largest |∂L/∂w| there. smallest: least -∂L/∂w on
    a child.
    """

    n: int
    child: float
    error: float
    noise: float
    elsewhere: float
    smallest: float


def sample_first_gradient(n: int, seed: int) -> SampledStep:
    """Sample the first gradient of a tree with k = n/2 from N = n^(2+ε) rows."""
    k, samples = n // 2, round(n ** (2 + EPSILON))
    tree, ends = random_tree(seed, n, k), level_ends(n, k)
    gradient = np.asarray(teacher_gradient(tree, seed, samples, mask="level"), np.float64)
    seen, nodes = np.repeat(ends[:-1], np.diff(ends)), np.arange(k - 1)[None, :]
    law = row_law(seen, LINK)
    children = -gradient[tree.children.T, nodes]
    others = visible_tokens(n, k, "level")
    others[tree.children.T, nodes] = False
    noise = (gradient - 4 * LINK.curvature / seen**3) / law.noise * np.sqrt(samples)
    ratios = children.mean(axis=0) / law.signal
    return SampledStep(
        n,
        float(ratios.mean()),
        float(ratios.std() / np.sqrt(k - 1)),
        float(np.sqrt(np.mean(noise[others] ** 2))),
        float(np.abs(gradient[others]).max()),
        float(children.min()),
    )
