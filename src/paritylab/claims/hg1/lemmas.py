"""Lemmas 17 to 19: may gradients of two inputs oppose each other, does each move some head?"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab._support.precision import float64
from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, instead
from paritylab.experiments.hg1_example_gradients import (
    example_loss,
    random_heads_and_inputs,
)
from paritylab.experiments.hg1_lemmas import (
    BITS,
    coinciding_heads,
    draw_start,
    gradient_cosine,
    measure_complement_pair,
    measure_least_motion,
)
from paritylab.experiments.search import hunt
from paritylab.learning.hardness.frozen import every_input
from paritylab.models import Zigzag

#: Below this an inner product that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9
#: n, k, tau, b.
Cell = tuple[int, int, float, float]


def _norm_of_heads(directions: Any, bits: Any, **rest: Any) -> Any:
    """A loss that no input enters, so that all gradients agree."""
    return jnp.sum(directions**2) / 2


@claim(
    "hg1-lemma17",
    HG1("Lemma 17"),
    quick={"cells": [(8, 3, 1 / 8, 0.0)], "starts": 256, "steps": 30},
    full={"starts": 4096, "steps": 200},
    evidence="exact",
    certificates=("hg1-lemma17",),
    planted=(
        "a loss that no input enters, so that all gradients agree",
        {"starts": 32, "steps": 5, "loss": _norm_of_heads},
        "holds",
    ),
)
def lemma17(
    trial: Trial,
    cells: Sequence[Cell] = [(8, 3, 1 / 8, 0.0), (16, 2, 1 / 16, 0.01), (8, 3, 1.0, 0.01)],
    starts: int = 512,
    steps: int = 60,
    *,
    loss: Callable[..., Any] = example_loss,
) -> Iterator[Any]:
    """Gradients of two examples never oppose each other, n = 8 and 16, k up to 3.

    For two different inputs the inner product of the gradients of their losses in any one head is
    nonnegative. Adam searches heads (and lets pairs of inputs vary from start to start) for the
    smallest cosine between two gradients.
    """
    for n, k, tau, b in trial.track(cells):
        (find,) = hunt(
            partial(gradient_cosine, loss=loss, b=b),
            partial(random_heads_and_inputs, k=k, n=n, inputs=2),
            np.array([tau]),
            starts=starts,
            steps=steps,
            seed=trial.seed,
        )
        name = f"n = {n}, k = {k}, tau = {tau:.3g}, b = {b:g}"
        yield at_least(f"smallest cosine of two gradients, {name}", find.margin, -ROUNDING)
    with float64():
        slope = jax.grad(partial(example_loss, tau=1 / 8, subset=(1, 5)))
        each = np.asarray(jax.vmap(slope, (None, 0))(jnp.zeros((2, 2)), every_input(8)))[:, 0]
    mean, single = np.sum(each.mean(axis=0) ** 2), np.mean(np.sum(each**2, axis=1))
    yield instead(
        "Averaged over all pairs the inner product is ‖E∇ℓ‖² ≥ 0, and the pairs can cancel all of "
        f"it: for heads at zero and B two opposite positions ‖E∇ℓ‖² is {mean:.0e} and E‖∇ℓ‖² "
        f"{single:.1f}, so Lemma 8 cannot drop them."
    )


def _all_but_zero(n: int) -> np.ndarray:
    """All inputs of n bits but the zero input, all ones last."""
    return (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(float)


@claim(
    "hg1-lemma18",
    HG1("Lemma 18, inequality (7)"),
    quick={"sizes": (8, 12), "starts": 10},
    full={"sizes": (8, 12, 16, 18), "starts": 100},
    evidence="exact",
    planted=(
        "single ones under nearly uniform attention, and the slope at s = 3/4",
        {"inputs": np.eye, "tau": lambda n: 100.0, "s": 0.75},
        "holds",
    ),
    certificates=("hg1-lemma18",),
)
def lemma18(
    trial: Trial,
    sizes: Sequence[int] = (8, 12, 16),
    starts: int = 30,
    *,
    inputs: Callable[[int], np.ndarray] = _all_but_zero,
    tau: Callable[[int], float] = lambda n: 1 / n,
    s: float = 0.25,
) -> Iterator[Any]:
    """Every input with s > 0 moves some of k = 3 heads at tau = 1/n.

    Let γ be a head's attention and s the sum over heads of the attended bits. If s > 0, then Σ_i
    [Σ_p x_p(γ_p(1-γ_p) sin(2πp/n) + Σ_{j≠p} γ_pγ_j sin(2πj/n))]² + [the same with cos]² ≥
    2c₂²τ²/n², where c₂τ is the least attention within π/4 of a head; and (∂ŷ/∂v*)² ≥ 16 wherever
    ŷy ≤ 1, with v* = s/k. Tried at random starts on every input but zero.
    """
    rows = [
        [measure_least_motion(trial.seed + start, n, inputs(n), tau(n)) for start in range(starts)]
        for n in trial.track(sizes)
    ]
    # One row per size, one column per start.
    printed, true, bits, attended = np.moveaxis(np.array(rows), -1, 0)
    for row, n in enumerate(sizes):
        worst = int(printed[row].argmin())
        where = f"n = {n}, s = {attended[row, worst]:.0e}, {bits[row, worst]:.0f} of {n} bits"
        yield at_least(f"least sum over its bound, plus as printed, {where}", printed[row].min(), 1)
        yield at_least(f"the same with the derivative's minus, n = {n}", true[row].min(), 1)
    with float64():
        for b in (0.0, 1e-4, 1e-2):
            slope = 3 * abs(float(jax.grad(Zigzag(3, b))(jnp.asarray(s))))
            yield at_least(f"|∂ŷ/∂v*| at s = {s:g}, k = 3, b = {b:g}", slope, 4)
    yield instead(
        "τ²Σ_i‖∂s/∂a_i‖² = Σ_i‖Cov_{γ_i}(x, p)‖², the covariance of bit and position under each "
        "head's attention. It has no lower bound: at all ones s = k and it is 0."
    )


@claim(
    "hg1-lemma19",
    HG1("Lemma 19"),
    quick={"sizes": (2, 3), "smoothings": (0.0, 1e-2, 1.0)},
    evidence="exact",
    planted=(
        "a single one, with all heads next to B's middle, in both places",
        {
            "start": lambda seed, k: coinciding_heads(k, 1),
            "bits": lambda n: np.eye(n)[0],
            "turn": 1,
        },
        "holds",
    ),
    certificates=("hg1-lemma19",),
)
def lemma19(
    trial: Trial,
    sizes: Sequence[int] = (2, 3, 4, 5),
    smoothings: Sequence[float] = (0.0, 1e-4, 1e-2, 1.0),
    *,
    start: Callable[[int, int], np.ndarray] = draw_start,
    bits: Callable[[int], np.ndarray] = np.zeros,
    turn: int = BITS // 2,
) -> Iterator[Any]:
    """An input with s = 0 and its complement have gradient in proportion to their loss, n = 16.

    If s = 0, the squared gradients of the input and of its complement sum to at least
    (64k²c₂²/n²)(ℓ + ℓ̄). Here s is the sum over heads of the attended bits, c₂τ the least attention
    within π/4 of a head, τ = 1/n. s = 0 only for all zeros, where the lemma fails for odd k and
    b > 0. The proofs take attention farther than π/4 for 0, so s ≈ 0 is tried too: heads opposite
    to B and a single one in B, smoothing b = 0.
    """
    rounding = 1e-15
    for k in trial.track(sizes):
        heads = start(trial.seed, k)
        zeros = [measure_complement_pair(heads, bits(BITS), b) for b in smoothings]
        short = max(each.bound - each.gradients for each in zeros)
        label = f"bound minus squared gradients, s = 0, n = {BITS}, k = {k}, largest over b"
        yield at_most(label, short, rounding)
        far = measure_complement_pair(coinciding_heads(k, turn), np.eye(BITS)[0], 0.0)
        label = f"squared gradients at s = {far.attended:.0e}, heads opposite to B, k = {k}"
        yield at_least(label, far.gradients, far.bound - rounding)
    yield instead(
        "s = 0 only for all zeros, whose complement is all ones; their squared gradients are 0 at "
        "every k and b, and at b = 0 so are their losses: there the lemma says 0 ≥ 0."
    )
