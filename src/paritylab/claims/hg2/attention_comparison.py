"""One XOR step with every kind of attention, each with a bias, a scale and a gain of its own.

From w = 0 the first step is the same for both heads and known in closed form, so one product with
the positions serves every setting. Settings are chosen on half of the runs and judged on the rest.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from paritylab.claims.hg2.two_heads import pair_sums, right_on_every_input, sign_positions

#: Weights before bias and scale; those of softmax depend on all scores and need neither.
SHAPES = {
    "sigmoid": expit,
    "exp": np.exp,
    "relu": lambda score: np.maximum(1 + score, 0),
    "linear": lambda score: 1 + score,
}
KINDS = ("softmax", *SHAPES)
#: Gains tried, and biases as shares of the gain.
GAINS = np.geomspace(2, 200, 12)
SHARES = np.linspace(0.3, 0.95, 14)
#: Fixed biases that leave the first step of linear and rectified weights alive.
ALIVE = (0.5, 0.9, 0.99)


class Arm(NamedTuple):
    """What a kind is given. positions: "balanced", or "signs", which are not centred. loss.

    bias: "none" (weights start at 1/n, as those of softmax do), "fixed" (scale·f(score - b), with b
    and scale functions of n), or "learnt" (f(score) with a constant coordinate added to the
    positions, so that the same step trains the bias).
    """

    positions: str
    loss: str
    bias: str

    def __str__(self) -> str:
        return f"{self.positions} positions, {self.loss} loss, bias {self.bias}"


#: Without a bias, and with one. Balanced positions take the same step under both losses.
PLAIN = tuple(
    Arm(positions, loss, "none")
    for positions, loss in (("balanced", "squared"), ("signs", "squared"), ("signs", "correlation"))
)
LEARNT = Arm("balanced", "squared", "learnt")
BIASED = (*(arm._replace(bias="fixed") for arm in PLAIN), LEARNT)


class Setting(NamedTuple):
    """Weights scale·f(gain·score - bias); start: the weight of every position before the step."""

    gain: float
    bias: float
    scale: float
    start: float


class Choice(NamedTuple):
    """The setting that solved most runs of one half, and whether it solves those of the other."""

    setting: Setting
    solved: np.ndarray


class Overlaps(NamedTuple):
    """<p_i + p_j, p_l> and <Σ p, p_l> for every run and l, (runs, n); the pair comes first."""

    pair: np.ndarray
    mean: np.ndarray

    @classmethod
    def draw(cls, n: int, width: int, positions: str, *, runs: int, seed: int) -> "Overlaps":
        found = []
        for run in range(runs):
            generator = np.random.default_rng([seed, n, width, run])
            table = sign_positions(generator, n, width, balanced=positions == "balanced")
            found.append(table @ np.stack([table[0] + table[1], table.sum(axis=0)], axis=1))
        return cls(*np.moveaxis(np.stack(found), -1, 0))


def settings_of(kind: str, bias: str, n: int) -> Iterator[Setting]:
    """Every setting a kind may choose from; its scale gives an orthogonal pair weight 1/2 each."""
    if kind == "softmax":
        yield from (Setting(gain, 0, 1, 1 / n) for gain in GAINS)
        return
    shape = SHAPES[kind]
    for gain in GAINS:
        if bias == "none":
            offset = np.log(n - 1) if kind == "sigmoid" else 0.0
            yield Setting(gain, offset, 1 if kind == "sigmoid" else 1 / n, 1 / n)
            continue
        alive = bias == "fixed" and kind in ("relu", "linear")
        for each in ALIVE if alive else gain * SHARES:
            with np.errstate(over="ignore"):
                scale = 0.5 / shape(gain - each)
                yield Setting(gain, each, scale, scale * shape(0 if bias == "learnt" else -each))


def drift(start: float, n: int, loss: str) -> float:
    """How much one step moves every position, over what it adds to the pair, at equal weights.

    ∂/∂g_l of ½E(ŷ-y)² is -4g + 24ng³ - 16g³ for all l, and -4g more on the pair. Negative: the step
    lowers the common score, so a constant coordinate becomes a bias that silences.

    >>> drift(0.25, 100, "squared") < 0 < drift(0.01, 100, "squared")
    True
    """
    return 0.0 if loss == "correlation" else 1 - 6 * n * start**2 + 4 * start**2


def weights_after(kind: str, arm: Arm, setting: Setting, overlaps: Overlaps) -> np.ndarray:
    """g after one step, (runs, n); NaN where the arm has no such step."""
    n = overlaps.pair.shape[1]
    gain, bias, scale, start = setting
    if kind == "softmax":
        return np.asarray(softmax(gain * (overlaps.pair - 2 / n * overlaps.mean), axis=1))
    common = drift(start, n, arm.loss)
    # A constant coordinate feels the push on all n positions and that on the pair.
    if arm.bias == "learnt" and n * common + 2 >= 0:
        return np.full_like(overlaps.pair, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(
            scale * SHAPES[kind](gain * (overlaps.pair + common * overlaps.mean) - bias)
        )


def solved_after(
    kind: str, arm: Arm, settings: Iterable[Setting], overlaps: Overlaps
) -> np.ndarray:
    """Whether ½(ŷ-y)² ≤ 0.01 on every input, (settings, runs)."""
    sums = [pair_sums(weights_after(kind, arm, setting, overlaps)) for setting in settings]
    return right_on_every_input(np.stack(sums, axis=1))


def best_choice(kind: str, arms: Iterable[Arm], draws: Mapping[str, Overlaps]) -> Choice:
    """The best arm and setting on the even runs, judged on the odd ones; draws: by positions.

    Of equals the smallest gain is taken.
    """
    found = []
    for arm in arms:
        overlaps = draws[arm.positions]
        settings = list(settings_of(kind, arm.bias, overlaps.pair.shape[1]))
        solved = solved_after(kind, arm, settings, overlaps)
        best = int(solved[:, ::2].mean(axis=1).argmax())
        share = float(solved[best, ::2].mean())
        found.append((share, Choice(settings[best], solved[best, 1::2])))
    return max(found, key=lambda each: each[0])[1]
