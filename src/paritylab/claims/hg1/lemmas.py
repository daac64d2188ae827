"""Lemmas 18 and 19: does every input that is not yet right move some head?"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

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
    holds,
    refuted,
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


class Motion(NamedTuple):
    """Lemma 18's sum over its bound, at the paper's random starts and over all inputs but zero.

    n: sizes. printed, true: least sum over bound with the printed plus signs and with the minus of
    the derivative, one row per size, one column per start. bits: ones in the input of the printed
    minimum. attended: s of that input. ones_printed, ones_true: the same ratios at all ones,
    largest over starts, per size. b, slope: smoothing and |∂ŷ/∂v*| of inequality (7) at s = 1/4,
    k = 3. gap: largest relative gap found between Σ‖∂s/∂a_i‖² and Σ‖Cov_{γ_i}(x, p)‖²/τ².
    """

    n: np.ndarray
    printed: np.ndarray
    true: np.ndarray
    bits: np.ndarray
    attended: np.ndarray
    ones_printed: np.ndarray
    ones_true: np.ndarray
    b: np.ndarray
    slope: np.ndarray
    gap: float


@claim(
    "hg1-lemma18",
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
def lemma18(trial: Trial, sizes: Sequence[int] = (8, 12, 16), starts: int = 30) -> Motion:
    rows = [
        [_least_motion(trial.seed + start, n) for start in range(starts)]
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
    )


def _least_motion(seed: int, n: int) -> tuple[float, ...]:
    """One entry of each array of `Motion`."""
    tau = 1 / n
    model = HeadAttention.random(seed, Parity(n, (0, 1, 2)), tau=tau)
    with float64():
        attention = np.asarray(model.attention())
    table = np.asarray(Circle(n).table)
    inputs = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(float)
    bound = hg1.spread_of_one_head(tau, n, hg1.smallest_near_attention(attention, tau))
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
    true, slope = float(m.true.max()), float(m.slope.min())
    shared: dict[str, Any] = {
        "runs": m.printed.size,
        "measured": _motion_numbers(m),
        "predicted": {
            "largest over starts of the least sum ÷ bound, as printed": "≥ 1",
            "largest over starts of the least sum ÷ bound, true signs": "≥ 1",
            "least |∂ŷ/∂v*| at s = 1/4": "≥ 4",
        },
    }
    if m.gap > 1e-9:
        return undecided(f"The derivative of s is known to {m.gap:.0e} only.", **shared)
    worst = min(float(m.printed.min()), float(m.true.min()))
    if worst >= 1 and slope >= 4:
        text = f"Every sum is at least {worst:.2f} of its bound and |∂ŷ/∂v*| at least {slope:.1f}."
        return holds(text, margin=min(worst - 1, slope - 4), **shared)
    instead = (
        "τ²Σ_i‖∂s/∂a_i‖² = Σ_i‖Cov_{γ_i}(x, p)‖², the covariance of bit and position under each "
        f"head's attention (to {m.gap:.0e}), which has no lower bound: at all ones s = k and it is "
        f"{m.ones_true.max():.0e} of the bound; |∂ŷ/∂v*| at s = 1/4 is {slope:.1g} to "
        f"{m.slope.max():.1g}."
    )
    shared["counterexample"] = _LEMMA18_COUNTEREXAMPLE
    if m.printed.min() >= 1:
        text = (
            f"As printed, with plus signs, the sum is at least {m.printed.min():.2f} of its bound"
        )
        text += f"; the derivative, with minus signs, reaches {m.true.min():.0e} of it."
        return corrected(text, instead=instead, margin=float(m.printed.min()) - 1, **shared)
    broken = m.printed < 1
    at = np.unravel_index(m.printed.argmin(), m.printed.shape)
    seen = (
        f"In {broken.sum()} of {broken.size} random starts some input breaks it as printed. Worst: "
        f"{m.bits[at]:.0f} of {m.n[at[0]]} bits set, s = {m.attended[at]:.0e} > 0, sum "
        f"{m.printed[at]:.0e} of the bound; with the derivative's minus signs some input reaches "
        f"{true:.0e} or less in every start."
    )
    return refuted(seen, instead=instead, margin=1 - float(m.printed.min()), **shared)


def _motion_numbers(m: Motion) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {}
    for row, n in enumerate(m.n):
        named[f"least sum ÷ bound as printed, n = {n}"] = m.printed[row].min()
        named[f"largest sum ÷ bound at all ones as printed, n = {n}"] = m.ones_printed[row]
        named[f"largest sum ÷ bound at all ones, true signs, n = {n}"] = m.ones_true[row]
    named["largest over starts of the least sum ÷ bound, as printed"] = m.printed.max()
    named["largest over starts of the least sum ÷ bound, true signs"] = m.true.max()
    named["least |∂ŷ/∂v*| at s = 1/4"] = m.slope.min()
    named["largest gap of the covariance identity"] = m.gap
    return named


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


_LEMMA18_COUNTEREXAMPLE = """\
import numpy as np
from paritylab import HeadAttention, Parity
from paritylab.theory import hg1

n = 8
heads = HeadAttention.at((0, 1, 7), Parity(n, (0, 1, 7)), tau=1 / n)
attention = np.asarray(heads.attention(), dtype=float)
far = np.eye(n)[4]  # a single one, opposite to the heads
s = attention.sum(axis=0) @ far
printed = hg1.motion_of_one_input(attention, far, heads.code.table, as_printed=True)
bound = hg1.spread_of_one_head(1 / n, n, hg1.smallest_near_attention(attention, 1 / n))
ones = hg1.motion_of_one_input(attention, np.ones(n), heads.code.table)
print("s:", s, "printed sum:", printed, "bound:", bound, "derivative at all ones:", ones)
assert s > 0 and printed < bound / 1000 and ones < 1e-10
"""


class Pairs(NamedTuple):
    """Both sides of Lemma 19 for an input and its complement.

    k, b: sizes and smoothings. left, loss, right: squared gradients, losses ℓ + ℓ̄ and the claimed
    bound for all zeros, where s = 0, one row per k, one column per b. far_s: s of a single one in B
    when all heads are opposite to B, per k; far_left, far_loss, far_right: as above at b = 0.
    """

    k: np.ndarray
    b: np.ndarray
    left: np.ndarray
    loss: np.ndarray
    right: np.ndarray
    far_s: np.ndarray
    far_left: np.ndarray
    far_loss: np.ndarray
    far_right: np.ndarray


@claim(
    "hg1-lemma19",
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
) -> Pairs:
    n = 16
    zeros = np.empty((3, len(sizes), len(smoothings)))
    far = np.empty((4, len(sizes)))
    for row, k in enumerate(trial.track(sizes)):
        start = np.asarray(HeadAttention.random(trial.seed, Parity(n, tuple(range(k)))).directions)
        for column, b in enumerate(smoothings):
            zeros[:, row, column] = _both_sides(start, np.zeros(n), b)
        opposite = Circle(n).vectors([(k // 2 + n // 2) % n] * k)
        one = np.eye(n)[0]
        far[1:, row] = _both_sides(opposite, one, 0.0)
        with float64():
            far[0, row] = attended_sum(jnp.asarray(opposite), one, 1 / n)
    return Pairs(np.array(sizes), np.array(smoothings), *zeros, *far)


@partial(jax.jit, static_argnums=3)
def _loss_and_slope(directions: Any, bits: Any, tau: Any, b: float) -> tuple[Any, Any]:
    return jax.value_and_grad(example_loss)(directions, bits, tau=tau, b=b)


def _both_sides(directions: np.ndarray, bits: np.ndarray, b: float) -> tuple[float, float, float]:
    """Squared gradients, losses and claimed bound of an input and its complement at tau = 1/n."""
    k, n = directions.shape[0], bits.shape[0]
    left = loss = 0.0
    with float64():
        attention = np.asarray(heads_of(jnp.asarray(directions), n, tau=1 / n).attention())
        for x in (bits, 1 - bits):
            value, gradient = _loss_and_slope(directions, x, 1 / n, b)
            left, loss = left + float(np.sum(np.asarray(gradient) ** 2)), loss + float(value)
    c2 = hg1.smallest_near_attention(attention, 1 / n)
    return left, loss, hg1.complement_pair(k, n, c2, loss)


@lemma19.judge
def _lemma19(p: Pairs) -> Judged:
    rounding = 1e-15
    short, far_short = p.right - p.left, p.far_right - p.far_left
    fails, smooth = short > rounding, p.b > 0
    odd = fails[p.k % 2 == 1][:, smooth]
    exact = p.loss[:, ~smooth].max()
    shared: dict[str, Any] = {
        "runs": p.left.size + p.far_left.size,
        "measured": _pair_numbers(p),
        "predicted": {"largest bound - squared gradients": "≤ 0"},
    }
    if not fails.any() and not (far_short > rounding).any():
        text = f"The bound exceeds the squared gradients by at most {short.max():.0e}."
        return holds(text, margin=float(rounding - max(short.max(), far_short.max())), **shared)
    shared["counterexample"] = _LEMMA19_COUNTEREXAMPLE
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
        return corrected(text, instead=f"{literal}.", margin=float(far_short.max()), **shared)
    text = (
        f"For all zeros and all ones it fails at {odd.sum()} of {odd.size} pairs of odd k and "
        f"b > 0 and {fails.sum() - odd.sum()} others, by up to {short.max():.1g}; where s is "
        f"nearly 0, {far}."
    )
    return refuted(text, instead=f"{literal}.", margin=float(short.max()) - rounding, **shared)


def _pair_numbers(p: Pairs) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {}
    for row, k in enumerate(p.k):
        for column, b in enumerate(p.b):
            pair = [p.left[row, column], p.right[row, column]]
            named[f"squared gradients and bound at s = 0, k = {k}, b = {b:g}"] = pair
        pair = [p.far_left[row], p.far_right[row]]
        named[f"squared gradients and bound, heads opposite to B, k = {k}"] = pair
    named["largest bound - squared gradients"] = max(
        float((p.right - p.left).max()), float((p.far_right - p.far_left).max())
    )
    return named


_LEMMA19_COUNTEREXAMPLE = """\
import jax
import jax.numpy as jnp
from paritylab import Circle, HeadAttention, Parity, Zigzag, float64

problem = Parity(8, (0, 1, 2))
heads = HeadAttention.random(0, problem, readout=Zigzag(3, b=0.01), tau=1 / 8)
with float64():
    def loss(a, x, y):
        return jnp.maximum(0, 1 - y * heads.with_parameters(a)(x)) ** 2
    a = jnp.asarray(heads.directions)
    pair = ((jnp.zeros(8), 1), (jnp.ones(8), -1))
    left = sum(float((jax.grad(loss)(a, x, y) ** 2).sum()) for x, y in pair)
    right = sum(float(loss(a, x, y)) for x, y in pair)
print("squared gradients:", left, "losses:", right)
assert left < 1e-20 < 1e-6 < right
"""
