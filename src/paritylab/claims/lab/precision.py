"""Does the one step survive single precision?"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.claims import OURS, Trial, at_most, claim, note
from paritylab.learning.xor.exact import SOLVED_ERROR, worst_case, xor_risk
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.models import Bowl, RandomSigns, attend
from paritylab.precision import float64
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate


def steps_in_precision(
    kind: str, *, n: int, width: int, gains: Any, seed: int
) -> Float[np.ndarray, " gains"]:
    """Worst-case error of one step at each gain in float64, float32, bfloat16, or float32 with a
    softmax that does not subtract its maximum ("naive"); the hidden pair is positions 0 and 1."""
    dtype = {"naive": "float32"}.get(kind, kind)
    with float64():
        table = RandomSigns.draw(seed, n, width).table
        etas = jnp.asarray(np.asarray(gains) * n * n / 2).astype(dtype)
        return np.asarray(_errors(jnp.asarray(table, dtype), etas, naive=kind == "naive"))


@partial(jax.jit, static_argnames="naive")
def _errors(
    table: Float[Array, "n width"], etas: Float[Array, " gains"], *, naive: bool
) -> Float[Array, " gains"]:
    on_pair = jnp.arange(table.shape[0]) < 2

    def weights(direction: Array) -> Array:
        scores = table @ direction
        if naive:
            terms = jnp.exp(scores)
            return terms / jnp.sum(terms)
        return attend(scores)

    zero = jnp.zeros(table.shape[1], table.dtype)
    # Two equal heads share the gradient of their common direction.
    gradient = jax.grad(lambda direction: xor_risk(weights(direction), on_pair))(zero) / 2

    def error(eta: Array) -> Array:
        g = weights(-eta * gradient).astype("float64")
        return jnp.asarray(worst_case(g, on_pair, Bowl()).error)

    return jax.lax.map(error, etas)


#: Gains tried besides 2 ln n + 6, which comes first.
GAINS = (1.0, 3.0, 10.0, 40.0, 80.0, 120.0, 400.0, 4000.0)
#: The score whose exponential float32 cannot hold.
OVERFLOW = round(float(np.log(np.finfo("f4").max)), 1)


@claim(
    "lab-float32",
    OURS,
    quick={"sizes": (1024,), "draws": 16},
    full={"sizes": (1024, 16_384, 65_536), "draws": 40},
    more="draws",
    planted=("float16, which overflows at 65,504", {"tested": "float16"}, "refuted"),
)
def float32_claim(
    trial: Trial,
    sizes: Sequence[int] = (1024, 4096),
    draws: int = 12,
    *,
    tested: str = "float32",
) -> Iterator[Any]:
    """The XOR step survives single precision, at gains from 1 to 4000.

    In our reconstruction of HG2's two heads (m = 12 ln n random signs, temperature 1/gain),
    gradient, step and softmax in float32 decide about every input as float64 does, at gains from 1
    to 4000 and at 2 ln n + 6, in at least 95 % of cases. A step is right on every input if
    ½(ŷ-y)² ≤ 0.01 at the worst one.
    """
    gains = np.array([[default_gain(n), *GAINS] for n in sizes])

    def errors(kind: str, few: np.ndarray) -> np.ndarray:
        """Largest |ŷ - y| over all inputs, (sizes, draws, gains)."""
        seeds = [seed_of(trial.seed, draw) for draw in range(draws)]
        cells = zip(sizes, few, strict=True)
        return np.array(
            [
                [
                    steps_in_precision(kind, n=n, width=usual_width(n), gains=each, seed=seed)
                    for seed in seeds
                ]
                for n, each in cells
            ]
        )

    kinds = {"float64": gains, tested: gains, "naive": gains, "half": gains[:, :1]}
    found = {
        kind: errors("bfloat16" if kind == "half" else kind, few)
        for kind, few in trial.track(kinds.items())
    }
    double, single = found["float64"], found[tested]
    otherwise = Rate.of((double <= SOLVED_ERROR) != (single <= SOLVED_ERROR))
    yield at_most(f"cases that {tested} decides otherwise than float64", otherwise, 0.05)
    yield note("largest difference of the worst errors", np.abs(double - single).max())
    names = {"float64": double, tested: single, "bfloat16": found["half"]}
    for name, worst in names.items():
        right = Rate.of(worst[:, :, 0] <= SOLVED_ERROR)
        yield note(f"draws right on every input at gain 2 ln n + 6, {name}", right)
    yield note("largest |ŷ - y| at gain 2 ln n + 6, bfloat16", found["half"].max())
    overflows = ~np.isfinite(found["naive"]).all(axis=1)
    label = f"first gain at which a plain softmax overflows, limit {OVERFLOW:g}"
    yield note(label, gains[overflows].min(initial=np.inf))
