"""One head against two: in our reconstruction of HG2 the second head is a copy of the first."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from paritylab.claims import (
    OURS,
    Bars,
    Judged,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning.xor.exact import SOLVED_ERROR, worst_case, xor_risk
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.models import Bowl, PackedSigns, attend
from paritylab.precision import float64
from paritylab.statistics import Rate

#: Heads count as one if their weights agree to this.
ROUNDING = 1e-9
#: Bias and scale of the sigmoid that stands in for softmax, and its gain.
BIAS, SCALE, SIGMOID_GAIN = 40.0, 0.5, 55.0


def _sigmoid(scores: Array) -> Array:
    return SCALE * jax.nn.sigmoid(scores - BIAS)


#: What is trained: attention, gain over 2 ln n + 6, rows over n² (0: all inputs), steps.
ARMS: dict[str, tuple[Callable[[Array], Array], float, int, int]] = {
    "softmax": (attend, 1.0, 0, 1),
    "half the gain": (attend, 0.5, 0, 1),
    "four times the gain": (attend, 4.0, 0, 1),
    "three steps": (attend, 0.1, 0, 3),
    "sigmoid with a bias": (_sigmoid, 0.0, 0, 1),
    "80n² rows": (attend, 1.0, 80, 1),
}


@record()
class Compared:
    """One arm: the same positions and data for one head and for two, each draw. apart: of the two
    heads' attention weights. gap: of one head's attention from the mean of the two."""

    arm: str
    apart: float = shown("largest distance of the two heads' weights", predicted=0)
    gap: float = shown("largest distance of one head from the two", predicted=0)
    one: Rate = shown("right on every input with one head")
    two: Rate = shown("right on every input with two heads", counts=False)

    def __str__(self) -> str:
        return self.arm


@record()
class OneHead:
    n: int
    arms: list[Compared]


@claim(
    "lab-one-head",
    source=OURS,
    title="One head does what two do: from zero the second is a copy of the first",
    statement="In our reconstruction of HG2 both heads start at w = 0, get the same gradient and "
    "stay equal, whatever the data, the attention and the number of steps. So a single head with "
    "half of the step size, m numbers, makes the same predictions.",
    quick={"n": 32, "draws": 8},
    full={"n": 64, "draws": 60},
    settings={"m": "12 ln n", "gain": "2 ln n + 6", "positions": "balanced signs"},
    seconds=(3, 6, 60),
)
def one_head(trial: Trial, n: int = 32, draws: int = 20, *, start: float = 0.0) -> OneHead:
    found = []
    for name in trial.track(ARMS):
        runs = [_both(name, n, [trial.seed, draw], start) for draw in range(draws)]
        apart, gap, one, two = zip(*runs, strict=True)
        found.append(Compared(name, max(apart), max(gap), Rate.of(one), Rate.of(two)))
    return OneHead(n, found)


def _both(name: str, n: int, seed: Sequence[int], start: float) -> tuple[float, float, bool, bool]:
    """Distances, and whether one head and two are right on every input; the pair comes first."""
    attention, factor, rows, steps = ARMS[name]
    generator = np.random.default_rng([*seed, n])
    gain = factor * default_gain(n) if factor else SIGMOID_GAIN
    width = usual_width(n)
    code = PackedSigns.draw(generator, n, width, balanced=True).vectors(np.arange(n))
    signs = generator.choice([-1.0, 1.0], (max(rows * n * n, 1), n))
    starts = start * generator.normal(size=(2, width))
    with float64():
        train = partial(_train, jnp.asarray(code), jnp.asarray(signs), attention, bool(rows), steps)
        # From weights g₀ the pair's scores rise by 4g₀·g'₀ per unit of step and position.
        first = attention(jnp.zeros(n))[0]
        slope = first * (1 - first) if attention is attend else jax.grad(_sigmoid_sum)(0.0)
        eta = gain / (4 * first * slope)
        two = train(jnp.asarray(starts), 2 * eta)
        one = train(jnp.asarray(starts[:1]), eta)
        on_pair = jnp.arange(n) < 2
        errors = [
            float(worst_case(heads.mean(axis=0), on_pair, Bowl()).error) for heads in (one, two)
        ]
        apart = float(jnp.abs(two[0] - two[1]).max())
        gap = float(jnp.abs(one[0] - two.mean(axis=0)).max())
    return apart, gap, errors[0] <= SOLVED_ERROR, errors[1] <= SOLVED_ERROR


def _sigmoid_sum(score: Array) -> Array:
    return _sigmoid(jnp.asarray(score))


@partial(jax.jit, static_argnums=(2, 3, 4))
def _train(
    code: Array,
    signs: Array,
    attention: Callable[[Array], Array],
    sampled: bool,
    steps: int,
    heads: Array,
    eta: Array,
) -> Array:
    """Attention weights of every head after `steps` steps on ½E(ŷ-y)², ŷ = 1 - 2z², z the mean of
    the heads."""
    on_pair = jnp.arange(code.shape[0]) < 2

    def weights(heads: Array) -> Array:
        return jax.vmap(lambda w: attention(code @ w))(heads)

    def risk(heads: Array) -> Array:
        g = weights(heads).mean(axis=0)
        if not sampled:
            return jnp.asarray(xor_risk(g, on_pair))
        return jnp.mean((1 - 2 * (signs @ g) ** 2 + signs[:, 0] * signs[:, 1]) ** 2) / 2

    for _ in range(steps):
        heads = heads - eta * jax.grad(risk)(heads)
    return weights(heads)


@one_head.judge
def _one_head(o: OneHead) -> Judged:
    apart, gap = max(a.apart for a in o.arms), max(a.gap for a in o.arms)
    listed = "; ".join(f"{a}: {a.one} with one head, {a.two.count} with two" for a in o.arms)
    text = (
        f"From w = 0 the attention weights of the two heads differ by at most {apart:.0e}, and a "
        f"single head with half of the step size differs from them by at most {gap:.0e} (n = "
        f"{o.n}). Right on every input: {listed}."
    )
    margin = min(abs(ROUNDING - apart), abs(ROUNDING - gap))
    if max(apart, gap) > ROUNDING:
        return refuted(text, instead=f"The heads part by {apart:.2g}.", margin=margin)
    best = max((a.one for a in o.arms), key=lambda rate: rate.low)
    if best.low <= 0.5:
        return undecided(f"The step itself fails at this size. {text}", interval=best)
    return holds(text, margin=margin, interval=best)


@one_head.planted("two heads with random starts of their own", turns="refuted")
def _own_starts(trial: Trial) -> OneHead:
    return one_head.measure(trial, n=16, draws=1, start=0.3)


@one_head.figure
def _one_head_figure(o: OneHead) -> Bars:
    rates = {f"{a}, one head": a.one for a in o.arms} | {f"{a}, two heads": a.two for a in o.arms}
    return Bars.of_rates(rates, "share of draws right on every input", caption=f"n = {o.n}.")
