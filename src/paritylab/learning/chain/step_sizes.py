"""Step sizes of the papers, and those that theory predicts to be best for the rows at hand."""

import numpy as np

from paritylab.learning.contract import LinkPart
from paritylab.models.links import as_link
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import child_signal, level_signal, step_error

#: Published step sizes by k; the direct model uses a hundredth.
PUBLISHED_STEPS = {8: 15.0, 16: 50.0, 32: 100.0}


def published_step(k: int, *, answer: bool = False) -> float:
    """η of the paper's figure for k = 8, 16, 32, extended as 3k elsewhere.

    The chain's loss is a mean over k - 1 tokens, so the gradient of one node's weights is 1/(k-1)
    of its own: η has to grow like k for every node to move as fast. The loss of the answer alone is
    not divided; it has a hundredth.
    """
    return PUBLISHED_STEPS.get(k, 3.0 * k) * (0.01 if answer else 1)


def usual_step(
    n: int, k: int, link: LinkPart = "cos", samples: int | None = None, mask: str = "token"
) -> float:
    """η for N samples: the one whose step is predicted to go wrong least (`theory.ks.step_error`).

    Without N the root's children get a score of ln M + 5 above the M tokens it sees: little leak,
    and children that an error of the gradient tips apart as little as possible.

    >>> [round(usual_step(1024, 512, samples=each * 1024) / 1024**2) for each in (112, 1000)]
    [10, 3]
    """
    rule, tokens = as_link(link), n + k - 2
    score = np.log(tokens) + 5
    if samples is not None:
        score = step_error(n, k, float(samples), rule, mask).score
    return float(score / child_signal(tokens, rule))


def level_step(n: int, k: int, link: LinkPart = "cos", samples: int | None = None) -> float:
    """A step size whose scores, on every level, keep as far from half-integers as possible.

    Scores are η times the exact signal of each level; distances are measured against the noise of
    N rows if given. Among η that give the root's children between ln M + 3 and ln M + 8.
    """
    ends, depth = level_ends(n, k), k.bit_length() - 1
    signals = np.array([level_signal(n, k, at, as_link(link)) for at in range(1, depth + 1)])
    floor = np.log(n + k - 2)
    # W is rounded after the step: a score near a half-integer would round up in one child and
    # down in the other, and a softmax of unequal scores no longer averages the pair.
    candidates = np.linspace(floor + 3, floor + 8, 2001) / signals[-1]
    scores = candidates[:, None] * signals[None, :]
    distance = 0.5 - np.abs(scores - np.round(scores))
    noise: np.ndarray | float = 1.0
    if samples is not None:
        # A sampled entry has relative error of about √(2d_l/N), d_l tokens being seen.
        noise = 0.03 + scores * np.sqrt(2 * np.asarray(ends[:-1]) / samples)
    return float(candidates[(distance / noise).min(axis=1).argmax()])
