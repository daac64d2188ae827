"""Lemmas 18 and 19: does every input that is not yet right move some head?"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    corrected,
    derived,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.engine.hunt import hunt
from paritylab.claims.hg1.example_gradients import (
    attended_sum,
    example_loss,
    heads_of,
    random_heads_and_inputs,
    squared_covariance,
    squared_motion,
)
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.theory import hg1


@record(evidence="exact")
class Motion:
    """Lemma 18's sum over its bound, at the paper's random starts and over all inputs but zero.

    printed, true: least sum over bound with the printed plus signs and with the minus of the
    derivative, one row per size, one column per start. bits, attended: ones in the input of the
    printed minimum, and s of that input. ones_printed, ones_true: the same ratios at all ones,
    largest over starts. b, slope: smoothing and |∂ŷ/∂v*| of inequality (7) at s = 1/4, k = 3.
    """

    n: np.ndarray
    printed: np.ndarray
    true: np.ndarray
    bits: np.ndarray
    attended: np.ndarray
    ones_printed: np.ndarray = shown("largest sum ÷ bound at all ones as printed", by="sizes")
    ones_true: np.ndarray = shown("largest sum ÷ bound at all ones, true signs", by="sizes")
    b: np.ndarray
    slope: np.ndarray = shown("|∂ŷ/∂v*| at s = 1/4, by smoothing b", by="b", predicted="≥ 4")
    gap: float = shown("largest relative gap of the covariance identity")
    starts: int = drawn(by="n")

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("least sum ÷ bound as printed", by="sizes", predicted="≥ 1")
    def least_printed(self) -> np.ndarray:
        return self.printed.min(axis=1)

    @derived("largest over starts of the least sum ÷ bound as printed, true signs", predicted="≥ 1")
    def best(self) -> list[float]:
        return [float(self.printed.max()), float(self.true.max())]


@claim(
    "hg1-lemma18",
    certificate="hg1-lemma18",
    source=HG1("Lemma 18, inequality (7)"),
    title="Every input with s > 0 moves some head",
    statement="If s > 0, Σ_i [Σ_p x_p(γ_p(1-γ_p) sin(2πp/n) + Σ_{j≠p} γ_pγ_j sin(2πj/n))]² + [the "
    "same with cos]² ≥ 2c₂²τ²/n², where c₂τ is the least attention within π/4 of a head; and "
    "(∂ŷ/∂v*)² ≥ 16 wherever ŷy ≤ 1.",
    quick={"sizes": (8, 12), "starts": 10},
    full={"sizes": (8, 10, 12, 14, 16, 18), "starts": 100},
    settings={"k": 3, "tau": "1/n", "inputs": "all 2^n - 1"},
    seconds=(5, 4, 60),
)
def lemma18(
    trial: Trial,
    sizes: Sequence[int] = (8, 12, 16),
    starts: int = 30,
    *,
    bound: Callable[..., float] = hg1.spread_of_one_head,
) -> Motion:
    rows = [
        [_least_motion(trial.seed + start, n, bound) for start in range(starts)]
        for n in trial.track(sizes)
    ]
    printed, true, bits, attended, ones_printed, ones_true = np.moveaxis(np.array(rows), -1, 0)
    smoothing = (0.0, 1e-4, 1e-2)
    with float64():
        slope = [3 * abs(float(jax.grad(Zigzag(3, b))(jnp.asarray(0.25)))) for b in smoothing]
    gap = hunt(
        lambda a, x: -_identity_gap(a, x[0], 1 / 8),
        partial(random_heads_and_inputs, k=3, n=8, inputs=1),
        starts=64,
        steps=20,
        seed=trial.seed,
    )
    return Motion(
        n=np.array(sizes),
        printed=printed,
        true=true,
        bits=bits,
        attended=attended,
        ones_printed=ones_printed.max(axis=1),
        ones_true=ones_true.max(axis=1),
        b=np.array(smoothing),
        slope=np.array(slope),
        gap=-gap.margin,
        starts=starts,
    )


def _least_motion(seed: int, n: int, claimed: Callable[..., float]) -> tuple[float, ...]:
    """One entry of each array of `Motion`."""
    tau = 1 / n
    model = HeadAttention.random(seed, Parity(n, (0, 1, 2)), tau=tau)
    with float64():
        attention = np.asarray(model.attention())
    table = np.asarray(Circle(n).table)
    inputs = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(float)
    bound = claimed(tau, n, hg1.smallest_near_attention(attention, tau))
    printed, true = (
        hg1.motion_of_one_input(attention, inputs, table, as_printed=as_printed) / bound
        for as_printed in (True, False)
    )
    at = printed.argmin()
    s = inputs[at] @ attention.sum(axis=0)
    return printed[at], true.min(), inputs[at].sum(), s, printed[-1], true[-1]


def _identity_gap(a: Any, x: Any, tau: float) -> Any:
    moved, spread = squared_motion(a, x, tau), squared_covariance(a, x, tau)
    return jnp.abs(moved - spread) / (1 + moved)


@lemma18.judge
def _lemma18(m: Motion) -> Judged:
    true, slope = m.best[1], float(m.slope.min())
    if m.gap > 1e-9:
        return undecided(f"The derivative of s is known to {m.gap:.0e} only.")
    worst = min(float(m.printed.min()), float(m.true.min()))
    if worst >= 1 and slope >= 4:
        text = f"Every sum is at least {worst:.2f} of its bound and |∂ŷ/∂v*| at least {slope:.1f}."
        return holds(text, margin=min(worst - 1, slope - 4))
    instead = (
        "τ²Σ_i‖∂s/∂a_i‖² = Σ_i‖Cov_{γ_i}(x, p)‖², the covariance of bit and position under each "
        f"head's attention (to {m.gap:.0e}), which has no lower bound: at all ones s = k and it is "
        f"{m.ones_true.max():.0e} of the bound; |∂ŷ/∂v*| at s = 1/4 is {slope:.1g} to "
        f"{m.slope.max():.1g}."
    )
    if m.printed.min() >= 1:
        text = (
            f"As printed, with plus signs, the sum is at least {m.printed.min():.2f} of its bound; "
            f"the derivative, with minus signs, reaches {m.true.min():.0e} of it."
        )
        margin = float(m.printed.min()) - 1
        return corrected(text, instead=instead, margin=margin, counterexample=True)
    broken = m.printed < 1
    at = np.unravel_index(m.printed.argmin(), m.printed.shape)
    seen = (
        f"In {broken.sum()} of {broken.size} random starts some input breaks it as printed. Worst: "
        f"{m.bits[at]:.0f} of {m.n[at[0]]} bits set, s = {m.attended[at]:.0e} > 0, sum "
        f"{m.printed[at]:.0e} of the bound; with the derivative's minus signs some input reaches "
        f"{true:.0e} or less in every start."
    )
    margin = 1 - float(m.printed.min())
    return refuted(seen, instead=instead, margin=margin, counterexample=True)


@lemma18.figure
def _lemma18_figure(m: Motion) -> Lines:
    return Lines(
        [
            Line("as printed, worst start", m.n, np.maximum(m.printed.min(axis=1), 1e-40)),
            Line("as printed, best start", m.n, np.maximum(m.printed.max(axis=1), 1e-40)),
            Line("true signs, best start", m.n, np.maximum(m.true.max(axis=1), 1e-40)),
        ],
        x="n",
        y="least sum over inputs ÷ claimed bound",
        log="y",
        marks=[Mark(1, "claimed")],
        caption="The input that moves the heads least, as printed a single one far from them.",
    )


@lemma18.planted("a bound of 1e-60, which the sum as printed keeps", turns="corrected")
def _lemma18_small(trial: Trial) -> Motion:
    return lemma18.measure(trial, sizes=(8,), starts=3, bound=lambda tau, n, c2: 1e-60)


@record(evidence="exact")
class Pairs:
    """Both sides of Lemma 19 for an input and its complement.

    left, loss, right: squared gradients, losses ℓ + ℓ̄ and the claimed bound for all zeros, where
    s = 0, one row per k, one column per smoothing b. far_s: s of a single one in B when all heads
    are opposite to B, per k; far_left, far_loss, far_right: as above at b = 0.
    """

    k: np.ndarray
    b: np.ndarray = shown("smoothings b")
    left: np.ndarray = shown("squared gradients at s = 0", by="sizes", against="right")
    loss: np.ndarray = shown("losses at s = 0", by="sizes")
    right: np.ndarray
    far_s: np.ndarray = shown("s with heads opposite to B", by="sizes")
    far_left: np.ndarray = shown("squared gradients there", by="sizes", against="far_right")
    far_loss: np.ndarray = shown("losses there", by="sizes")
    far_right: np.ndarray

    @property
    def sizes(self) -> list[str]:
        return [f"k = {k}" for k in self.k]

    @derived("largest bound - squared gradients", predicted="≤ 0")
    def short(self) -> float:
        gaps = self.right - self.left, self.far_right - self.far_left
        return float(max(gap.max() for gap in gaps))


@claim(
    "hg1-lemma19",
    certificate="hg1-lemma19",
    source=HG1("Lemma 19"),
    title="An input with s = 0 and its complement have gradient in proportion to their loss",
    statement="If s = 0, the squared gradients of the input and of its complement sum to at least "
    "(64k²c₂²/n²)(ℓ + ℓ̄), where c₂τ is the least attention within π/4 of a head.",
    quick={"sizes": (2, 3), "smoothings": (0.0, 1e-2, 1.0)},
    full={"sizes": (1, 2, 3, 4, 5, 6, 7)},
    settings={"n": 16, "tau": "1/n"},
    seconds=(7, 9, 20),
)
def lemma19(
    trial: Trial,
    sizes: Sequence[int] = (2, 3, 4, 5),
    smoothings: Sequence[float] = (0.0, 1e-4, 1e-2, 1.0),
    *,
    bound: Callable[..., float] = hg1.complement_pair,
) -> Pairs:
    n = 16
    zeros = np.empty((3, len(sizes), len(smoothings)))
    far = np.empty((4, len(sizes)))
    for row, k in enumerate(trial.track(sizes)):
        start = np.asarray(HeadAttention.random(trial.seed, Parity(n, tuple(range(k)))).directions)
        for column, b in enumerate(smoothings):
            zeros[:, row, column] = _both_sides(start, np.zeros(n), b, bound)
        opposite = Circle(n).vectors([(k // 2 + n // 2) % n] * k)
        one = np.eye(n)[0]
        far[1:, row] = _both_sides(opposite, one, 0.0, bound)
        with float64():
            far[0, row] = attended_sum(jnp.asarray(opposite), one, 1 / n)
    return Pairs(np.array(sizes), np.array(smoothings), *zeros, *far)


@partial(jax.jit, static_argnums=3)
def _loss_and_slope(directions: Any, bits: Any, tau: Any, b: float) -> tuple[Any, Any]:
    return jax.value_and_grad(example_loss)(directions, bits, tau=tau, b=b)


def _both_sides(
    directions: np.ndarray, bits: np.ndarray, b: float, bound: Callable[..., float]
) -> tuple[float, float, float]:
    """Squared gradients, losses and claimed bound of an input and its complement at tau = 1/n."""
    k, n = directions.shape[0], bits.shape[0]
    left = loss = 0.0
    with float64():
        attention = np.asarray(heads_of(jnp.asarray(directions), n, tau=1 / n).attention())
        for x in (bits, 1 - bits):
            value, gradient = _loss_and_slope(directions, x, 1 / n, b)
            left, loss = left + float(np.sum(np.asarray(gradient) ** 2)), loss + float(value)
    c2 = hg1.smallest_near_attention(attention, 1 / n)
    return left, loss, bound(k, n, c2, loss)


@lemma19.judge
def _lemma19(p: Pairs) -> Judged:
    rounding = 1e-15
    short, far_short = p.right - p.left, p.far_right - p.far_left
    fails, smooth = short > rounding, p.b > 0
    odd = fails[p.k % 2 == 1][:, smooth]
    exact = p.loss[:, ~smooth].max()
    if not fails.any() and not (far_short > rounding).any():
        text = f"The bound exceeds the squared gradients by at most {short.max():.0e}."
        return holds(text, margin=rounding - p.short)
    far = (
        f"for heads opposite to B a single one in B has s = {p.far_s.max():.0e} or less, losses "
        f"{p.far_loss.min():.3g} to {p.far_loss.max():.3g} in sum and squared gradients of at most "
        f"{p.far_left.max():.0e}, where {p.far_right.min():.1g} or more is claimed"
    )
    literal = (
        f"s = 0 only for all zeros, whose complement is all ones; their squared gradients are at "
        f"most {p.left.max():.1g} at every k and b, and at b = 0 their losses at most {exact:.1g}: "
        "there the lemma says 0 ≥ 0"
    )
    if not fails.any():
        text = f"To the letter it holds, but {far}."
        margin = float(far_short.max())
        return corrected(text, instead=f"{literal}.", margin=margin, counterexample=True)
    text = (
        f"For all zeros and all ones it fails at {odd.sum()} of {odd.size} pairs of odd k and "
        f"b > 0 and {fails.sum() - odd.sum()} others, by up to {short.max():.1g}; where s is "
        f"nearly 0, {far}."
    )
    margin = float(short.max()) - rounding
    return refuted(text, instead=f"{literal}.", margin=margin, counterexample=True)


@lemma19.planted("a bound of 0", turns="holds")
def _lemma19_zero(trial: Trial) -> Pairs:
    return lemma19.measure(trial, sizes=(3,), bound=lambda k, n, c2, loss: 0.0)
