"""How small the random start of the one XOR step has to be."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import softmax

from paritylab.claims import OURS, Estimate, Line, Lines, Trial, at_least, claim, note, within
from paritylab.claims.hg2.two_heads import pair_sums, right_on_every_input, sign_positions
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.statistics import Rate, half_point, threshold_law


def step_from(
    positions: Float[np.ndarray, "n width"],
    directions: Float[np.ndarray, "starts heads width"],
    gain: float,
    loss: str,
) -> Float[np.ndarray, "starts n"]:
    """Weights g after one exact step of softmax heads; the pair is the first two positions.

    With g the mean over heads of attention α_h, the risk's slope in g_l is -4g_l + 24S₂g_l - 16g_l³
    for the squared loss and 0 for the correlation, less 4g_j on the pair; a head's scores move by
    it less its mean under α_h. The step size is gain·n²/2, as at zero.
    """
    n = len(positions)
    scores = directions @ positions.T
    attention = softmax(scores, axis=-1)
    g = attention.mean(axis=1)
    slope = np.zeros_like(g)
    if loss == "squared":
        slope += (24 * np.sum(g**2, axis=1, keepdims=True) - 4) * g - 16 * g**3
    slope[:, :2] -= 4 * g[:, 1::-1]
    force = attention * (slope[:, None] - np.sum(attention * slope[:, None], axis=-1)[..., None])
    # A head is half of the mean.
    moved = directions - gain * n**2 / 4 * (force @ positions)
    return np.asarray(softmax(moved @ positions.T, axis=-1).mean(axis=1))


def solved_from_starts(
    n: int, width: int, spreads: Any, gain: float, loss: str, *, runs: int, seed: int
) -> Bool[np.ndarray, "spreads runs"]:
    """Whether one step is right on every input from normal directions of each standard deviation.

    Every run has balanced positions and one draw of directions, scaled by all spreads.
    """
    found = []
    for run in range(runs):
        generator = np.random.default_rng([seed, n, width, run])
        positions = sign_positions(generator, n, width)
        directions = generator.standard_normal((2, width))
        starts = np.asarray(spreads)[:, None, None] * directions
        found.append(pair_sums(step_from(positions, starts, gain, loss)))
    return right_on_every_input(np.stack(found, axis=-1))


#: Spreads σ tried: in units of m/n for the squared loss, as they are for the correlation.
GRID = {"squared": np.geomspace(0.008, 0.2, 8), "correlation": np.geomspace(0.25, 2.5, 8)}


def _wider_starts(n: int, width: int, spreads: Any, *rest: Any, **more: Any) -> np.ndarray:
    return solved_from_starts(n, width, np.sqrt(n / 64) * np.array(spreads), *rest, **more)


@claim(
    "lab-init-variance",
    OURS,
    quick={"sizes": (64, 512)},
    full={"sizes": (64, 256, 1024, 4096), "runs": 1000},
    more="runs",
    planted=("starts √(n/64) times as wide as they say", {"solved_from": _wider_starts}, "refuted"),
)
def init_variance(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024),
    runs: int = 200,
    *,
    solved_from: Callable[..., np.ndarray] = solved_from_starts,
) -> Iterator[Any]:
    """The XOR step needs no particular variance: zero works, and m/n is the scale.

    A machine-made review of HG2 asks for a random start whose variance is of order 1/ln n. Against
    it: the one step needs no start at all. With m = 12 ln n balanced signs and the gain 2 ln n + 6
    it is right on every input in most runs from w = 0. From normal w with standard deviation σ half
    of the runs are right up to a σ that falls like m/n under the squared loss and does not depend
    on n under the correlation loss; the exponents are right to 0.25.
    """
    failed: dict[str, list[np.ndarray]] = {loss: [] for loss in GRID}
    zero, half = [], {}
    unit = {"squared": [usual_width(n) / n for n in sizes], "correlation": [1.0] * len(sizes)}
    for at, n in enumerate(trial.track(sizes)):
        for loss, grid in GRID.items():
            spreads = [0.0, np.log(n) ** -0.5, *(unit[loss][at] * grid)]
            solved = solved_from(
                n, usual_width(n), spreads, default_gain(n), loss, runs=runs, seed=trial.seed
            )
            failed[loss].append(~solved[2:])
            if n == sizes[-1]:
                label = f"runs right from σ² = 1/ln n, {loss} loss, n = {n}"
                yield note(label, Rate.of(solved[1]))
        zero.append(solved[0])
    yield at_least("runs right on every input from w = 0", Rate.of(np.concatenate(zero)), 0.5)
    for loss, grid in GRID.items():
        law = threshold_law(sizes, [grid] * len(sizes), failed[loss])
        exponent = Estimate(law.exponent, law.low, law.high, runs * len(sizes))
        what = "σ·n/m" if loss == "squared" else "σ"
        yield within(f"exponent of n in the largest {what}, {loss} loss", exponent, -0.25, 0.25)
        halves = np.array([half_point(grid, each) for each in failed[loss]])
        half[loss] = halves * unit[loss]
    scale = np.array(unit["squared"])
    yield Lines(
        [
            *(Line(f"{loss} loss", sizes, half[loss]) for loss in GRID),
            Line("m/n, scaled", sizes, half["squared"][0] * scale / scale[0], style="--"),
        ],
        x="n",
        y="σ of the start at which half of the runs fail",
        log="xy",
        caption="The largest random start from which the one step still works.",
    )
