"""Random readouts that are hard for a grid, against enumeration in extended precision.

`outside(number)` draws case `number` and says by how many stated errors the risk is off, or None if
it was refused. A value above 1 is a failure.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.precision import AnyArray, float64
from paritylab.problem import Parity
from paritylab.risk import population_gradient, population_risk
from paritylab.risk.objective import WeightRisk, target_of, weight_risk

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


def _slope(which, at, width, height, s):
    """Its derivative where it has one, in extended precision; 0 on a jump, as jax says."""
    z, nothing = s - at, np.zeros_like(s)
    shapes = [
        nothing,
        nothing,
        -2 * z / width**2 * np.exp(-((z / width) ** 2)),
        -np.sin(s / width) / width,
        (1 - np.tanh(z / width) ** 2) / width,
        nothing,
        nothing,
        np.sign(z),
    ]
    return -np.pi * np.sin(np.pi * s) + height * shapes[int(which)]


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
    return true_risk(case)[0]


def true_risk(case: Drawn) -> tuple[float, np.ndarray]:
    """The risk over all inputs and its slopes in the weights, in extended precision throughout."""
    problem = case.problem
    sums, chances, signs = (np.array([start], _WIDE) for start in (0, 1, problem.sign))
    weights = case.attention.astype(_WIDE).sum(axis=0) * problem.k / len(case.attention)
    for j, (weight, p) in enumerate(zip(weights, problem.probabilities.astype(_WIDE), strict=True)):
        sums = np.concatenate([sums, sums + weight])
        chances = np.concatenate([chances * (1 - p), chances * p])
        signs = np.concatenate([signs, -signs if j in problem.subset else signs])
    readout = case.readout
    numbers = [_WIDE(each) for each in (readout.at, readout.width, readout.height)]
    predicted = _value(np, readout.which, *numbers, sums)
    steep = _slope(readout.which, *numbers, sums)
    noise = _WIDE(problem.noise)
    labels = ((1 - noise, signs), (noise, -signs))
    total = sum(share * _loss(case.loss, y, predicted) for share, y in labels)
    bent = steep * sum(share * _loss_slope(case.loss, y, predicted) for share, y in labels)
    # Input number i has bit j equal to (i >> j) & 1.
    bits = np.arange(len(sums))[:, None] >> np.arange(problem.n)[None, :] & 1
    return float(np.sum(chances * total)), np.asarray((chances * bent) @ bits, np.float64)


def _loss(name, y, predicted):
    hinge = np.maximum(0, 1 - y * predicted)
    table = {"hinge": hinge, "squared_hinge": hinge**2, "correlation": -y * predicted}
    return table[name] if name in table else (predicted - y) ** 2 / 2


def _loss_slope(name, y, predicted):
    short = np.maximum(0, 1 - y * predicted)
    table = {"hinge": -y * (short > 0), "squared_hinge": -2 * y * short, "correlation": -y}
    return table[name] if name in table else predicted - y


def slopes_outside(number: int) -> tuple[str, float | None]:
    """The same of `population_gradient`: the worst of value and slopes."""
    case = drawn(number)
    # A lattice has no slopes, and the usual route serves such weights as well.
    route = "auto" if case.route == "lattice" else case.route
    try:
        found = population_gradient(
            case.attention, case.problem, readout=case.readout, loss=case.loss, route=route
        )
    except ValueError as refusal:
        if "sampled_risk" not in str(refusal):
            raise
        return "refused", None
    value, slopes = true_risk(case)
    gaps = np.append(np.abs(found.gradient[0] - slopes), abs(found.risk.value - value))
    errors = np.append(found.error[0], found.risk.error)
    with np.errstate(invalid="ignore", divide="ignore"):
        return found.risk.route, float(np.max(np.where(gaps > 0, gaps / errors, 0.0)))


def loop_outside(number: int) -> tuple[str, float | None]:
    """The same of the risk that compiled loops descend, which has one error for all weights."""
    case = drawn(number)
    route = "series" if case.route == "series" else "auto"
    try:
        risk = weight_risk(case.readout, case.loss, case.problem.n, K, route=route)
    except ValueError as refusal:
        if "train on rows" not in str(refusal):
            raise
        return "refused", None
    with float64():
        weights = jnp.asarray(case.attention.sum(axis=0))
        found = float(_compiled(risk)(weights, target_of(case.problem)))
    gap = abs(found - truth(case))
    return risk.route, gap / risk.error if gap else 0.0


def _compiled(risk: WeightRisk) -> Callable[..., Array]:
    return jax.jit(risk) if risk.route == "series" else risk


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
