"""Random readouts that are hard for a grid, against enumeration in extended precision.

`outside(number)` draws case `number` and says by how many stated errors the risk is off, or None if
it was refused. A value above 1 is a failure.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.precision import AnyArray
from paritylab.problem import Parity
from paritylab.risk import population_risk

K = 3
SHAPES = ("zero", "box", "bump", "wave", "wall", "steps", "last", "bend")
LOSSES = ("squared_hinge", "hinge", "squared", "correlation")
_WIDE = np.longdouble


class Hard(eqx.Module):
    """cos(πs), less smooth by one of SHAPES; numbers are arrays, so that it compiles once."""

    which: AnyArray
    at: AnyArray
    width: AnyArray
    height: AnyArray

    def __call__(self, s: Float[Array, "..."]) -> Float[Array, "..."]:
        numbers = (jnp.asarray(each, s.dtype) for each in (self.at, self.width, self.height))
        return _value(jnp, jnp.asarray(self.which), *numbers, s)


def _value(xp, which, at, width, height, s):
    """The readout in jax or, in extended precision, in numpy."""
    z = s - at
    shapes = [
        xp.where(s == 0, 1.0, 0.0),
        xp.where(xp.abs(z) < width, 1.0, 0.0),
        xp.exp(-((z / width) ** 2)),
        xp.cos(s / width),
        xp.tanh(z / width),
        xp.floor(s / width) * width,
        xp.where(s >= K - width, 1.0, 0.0),
        xp.abs(z),
    ]
    chosen = [which == index for index in range(len(shapes))]
    return xp.cos(np.pi * s) + height * xp.select(chosen, shapes)


class Drawn(NamedTuple):
    """A case: what `population_risk` is given."""

    attention: np.ndarray
    problem: Parity
    readout: Hard
    loss: str
    route: str


def drawn(number: int) -> Drawn:
    """Case `number`: every twentieth by the series, the others by the usual route or by ties."""
    draw = np.random.default_rng(number)
    n = int(draw.choice([6, 9, 12]))
    attention = draw.dirichlet(np.full(n, draw.choice([0.1, 1.0, 20.0])), K)
    apart = float(draw.choice([0, 1e-15, 1e-12])) if draw.random() < 0.3 else np.inf
    if apart < np.inf:  # weights that tie, or nearly
        attention = np.full((K, n), 1 / n) * (1 + apart * draw.random(n))
    attention /= attention.sum(axis=1, keepdims=True)
    near = draw.choice([0.5, 0.3, 1e-2, 1e-6, 1 - 1e-6, 1 - 1e-2])
    bias = near if draw.random() < 0.5 else draw.uniform(0.05, 0.95, n)
    problem = Parity(n, tuple(draw.choice(n, K, replace=False).tolist()), bias=bias, noise=0.1)
    sums = attention.sum(axis=0)
    # Half the features sit on a sum that occurs; a little aside, so that rounding cannot decide.
    width = float(10.0 ** draw.choice([-1, -2, -4, -6, -9]))
    at = float(sums @ (draw.random(n) < 0.5)) + 0.3 * width
    if draw.random() < 0.5:
        at = float(draw.uniform(0, K))
    height = float(draw.choice([1e-6, 1e-2, 1.0, 1e3]))
    readout = Hard(np.int64(draw.integers(len(SHAPES))), *map(np.float64, (at, width, height)))
    route = "lattice" if apart < 1e-13 and np.ndim(bias) == 0 else "auto"
    route = "series" if number % 20 == 0 else route
    return Drawn(attention, problem, readout, str(draw.choice(LOSSES)), route)


def truth(case: Drawn) -> float:
    """The risk over all inputs, in extended precision throughout."""
    problem = case.problem
    sums, chances, signs = (np.array([start], _WIDE) for start in (0, 1, problem.sign))
    weights = case.attention.astype(_WIDE).sum(axis=0) * problem.k / len(case.attention)
    for j, (weight, p) in enumerate(zip(weights, problem.probabilities.astype(_WIDE), strict=True)):
        sums = np.concatenate([sums, sums + weight])
        chances = np.concatenate([chances * (1 - p), chances * p])
        signs = np.concatenate([signs, -signs if j in problem.subset else signs])
    readout = case.readout
    numbers = (_WIDE(each) for each in (readout.at, readout.width, readout.height))
    predicted = _value(np, readout.which, *numbers, sums)
    noise = _WIDE(problem.noise)
    total = sum(
        share * _loss(case.loss, y, predicted) for share, y in ((1 - noise, signs), (noise, -signs))
    )
    return float(np.sum(chances * total))


def _loss(name, y, predicted):
    hinge = np.maximum(0, 1 - y * predicted)
    table = {"hinge": hinge, "squared_hinge": hinge**2, "correlation": -y * predicted}
    return table[name] if name in table else (predicted - y) ** 2 / 2


def outside(number: int) -> tuple[str, float | None]:
    """The route taken, and how many stated errors the risk is off; None if it was refused."""
    case = drawn(number)
    try:
        risk = population_risk(
            case.attention, case.problem, readout=case.readout, loss=case.loss, route=case.route
        )
    except ValueError as refusal:
        if "sampled_risk" not in str(refusal):
            raise
        return "refused", None
    gap = abs(risk.value - truth(case))
    return risk.route, gap / risk.error if gap else 0.0
