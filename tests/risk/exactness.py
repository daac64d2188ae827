"""Random cases of every declared form, against sums in extended precision that share no code.

`drawn(number)` is case `number`; `outside(number)` says by how many stated errors its risk is off.
A value above 1 is a failure. Two independent references: all 2^n inputs one by one, and for equal
weights the counts of ones inside and outside of B, at any n.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray
from paritylab.models import PiecewiseLinear, Zigzag
from paritylab.problem import Parity
from paritylab.risk import population_risk

K = 3
#: How the readout is declared. "own" is a user's function, which is enumerated.
FORMS = ("zigzag", "pieces", "cos", "lattice", "own")
SHAPES = ("zero", "box", "bump", "wave", "wall", "steps", "last", "bend")
LOSSES = ("squared_hinge", "hinge", "squared", "correlation", "mean_hinge_squared")
_WIDE = np.longdouble


class Hard(eqx.Module):
    """cos(πs), less smooth by one of SHAPES."""

    which: AnyArray
    at: AnyArray
    width: AnyArray
    height: AnyArray

    def __call__(self, s: Float[Array, "..."]) -> Float[Array, "..."]:
        numbers = (jnp.asarray(each, s.dtype) for each in (self.at, self.width, self.height))
        return _hard(jnp, jnp.asarray(self.which), *numbers, s)


def _hard(xp, which, at, width, height, s):
    """The readout in jax or, in extended precision, in numpy."""
    z = s - at
    shapes = [  # as SHAPES names them
        xp.where(s == 0, 1.0, 0.0),
        xp.where(xp.abs(z) < width, 1.0, 0.0),
        xp.exp(-((z / width) ** 2)),
        xp.cos(s / width),
        xp.tanh(z / width),
        xp.floor(s / width) * width,
        xp.where(s >= K - width, 1.0, 0.0),
        xp.abs(z),
    ]
    return xp.cos(np.pi * s) + height * xp.select([which == i for i in range(8)], shapes)


class Drawn(NamedTuple):
    """A case: what `population_risk` is given. form: one of FORMS, then also the route."""

    form: str
    attention: np.ndarray
    problem: Parity
    readout: object
    loss: str
    route: str = "auto"


def drawn(number: int) -> Drawn:
    """Case `number`: forms take turns, all else is random."""
    draw = np.random.default_rng(number)
    form = FORMS[number % len(FORMS)]
    lattice = form == "lattice"
    n = int(draw.choice([40, 300, 2000] if lattice else [6, 9, 12]))
    heads = int(draw.integers(1, 5))
    attention = draw.dirichlet(np.full(n, draw.choice([0.1, 1.0, 20.0])), heads)
    if lattice or draw.random() < 0.2:  # weights that tie, or nearly
        apart = 0 if lattice else draw.choice([0, 1e-15, 1e-12])
        attention = np.full((heads, n), 1 / n) * (1 + apart * draw.random(n))
    attention /= attention.sum(axis=1, keepdims=True)
    near = draw.choice([0.5, 0.3, 1e-2, 1e-6, 1 - 1e-6, 1 - 1e-2])
    bias = float(near) if lattice or draw.random() < 0.5 else draw.uniform(0.05, 0.95, n)
    subset = tuple(draw.choice(n, K, replace=False).tolist())
    noise = float(draw.choice([0.0, 0.1]))
    problem = Parity(n, subset, bias=bias, noise=noise, sign=int(draw.choice([-1, 1])))
    kind = str(draw.choice(["zigzag", "pieces"])) if lattice else form
    readout = {"zigzag": Zigzag(K), "cos": "cos"}.get(kind)
    if kind == "pieces":
        inner = np.sort(draw.uniform(0, K, 4))
        knots = np.concatenate([[-0.5], inner, [K + 0.25]])
        readout = PiecewiseLinear(
            tuple(knots), tuple(draw.normal(size=6) * 10.0 ** draw.integers(3))
        )
    elif kind == "own":
        readout = _own(draw, attention)
    return Drawn(form, attention, problem, readout, str(draw.choice(LOSSES)))


def _own(draw: np.random.Generator, attention: np.ndarray) -> Hard:
    """Half the features sit on a sum that occurs, just aside: rounding must not decide."""
    width = float(10.0 ** draw.choice([-1, -2, -4, -6, -9]))
    weights = attention.mean(axis=0) * K
    at = float(weights @ (draw.random(len(weights)) < 0.5)) + 0.3 * width
    if draw.random() < 0.5:
        at = float(draw.uniform(0, K))
    height = float(draw.choice([1e-6, 1e-2, 1.0, 1e3]))
    return Hard(np.int64(draw.integers(len(SHAPES))), *map(np.float64, (at, width, height)))


def _predicted(readout: object, s: np.ndarray) -> np.ndarray:
    """The readout in extended precision, written anew."""
    if readout == "cos":
        return np.cos(_WIDE("3.14159265358979323846264338") * s)
    if isinstance(readout, Zigzag):
        ramps = [(-1) ** i * (8 * i - 4) * np.maximum(s + _WIDE(0.5) - i, 0) for i in (1, 2, 3)]
        return 1 + sum(ramps)
    if isinstance(readout, PiecewiseLinear):
        knots, values = (np.array(each, _WIDE) for each in (readout.knots, readout.values))
        at = np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(knots) - 2)
        share = np.clip((s - knots[at]) / (knots[at + 1] - knots[at]), 0, 1)
        return values[at] + share * (values[at + 1] - values[at])
    assert isinstance(readout, Hard)
    numbers = [_WIDE(each) for each in (readout.at, readout.width, readout.height)]
    return _hard(np, readout.which, *numbers, s)


def _mean(case: Drawn, sums: np.ndarray, chances: np.ndarray, signs: np.ndarray) -> float:
    """The risk from sums with their chances and noiseless labels."""
    made, noise = _predicted(case.readout, sums), _WIDE(case.problem.noise)
    labels = ((1 - noise, signs), (noise, -signs))
    total = np.sum(chances * sum(share * _loss(case.loss, y, made) for share, y in labels))
    outer = {"correlation": -total, "mean_hinge_squared": total**2}
    return float(outer.get(case.loss, total))


def _loss(name, y, made):
    hinge = np.maximum(0, 1 - y * made)
    table = {"squared_hinge": hinge**2, "correlation": y * made, "squared": (made - y) ** 2 / 2}
    return table.get(name, hinge)


def _inputs(case: Drawn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums, chances and labels of all 2^n inputs; input i has bit j equal to (i >> j) & 1."""
    problem = case.problem
    sums, chances, signs = (np.array([start], _WIDE) for start in (0, 1, problem.sign))
    weights = case.attention.astype(_WIDE).sum(axis=0) * problem.k / len(case.attention)
    for j, (weight, p) in enumerate(zip(weights, problem.probabilities.astype(_WIDE), strict=True)):
        sums = np.concatenate([sums, sums + weight])
        chances = np.concatenate([chances * (1 - p), chances * p])
        signs = np.concatenate([signs, -signs if j in problem.subset else signs])
    return sums, chances, signs


def _counts(case: Drawn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for equal weights: ones inside (rows) and outside of B (columns)."""
    n, p = case.problem.n, _WIDE(case.problem.probabilities[0])
    inside, outside_ = _binomial(K, p), _binomial(n - K, p)
    ones = np.arange(K + 1)[:, None] + np.arange(n - K + 1)[None, :]
    signs = np.broadcast_to((1 - 2 * (np.arange(K + 1) % 2))[:, None], ones.shape)
    chances = inside[:, None] * outside_[None, :]
    return (ones * _WIDE(K) / n).ravel(), chances.ravel(), (case.problem.sign * signs).ravel()


def _binomial(size: int, p: np.longdouble) -> np.ndarray:
    """P(r ones of `size`), by logarithms of ratios from r to r + 1."""
    r = np.arange(size, dtype=_WIDE)
    steps = np.log((size - r) / (r + 1)) + np.log(p) - np.log(1 - p)
    return np.exp(size * np.log(1 - p) + np.append(0, np.cumsum(steps)))


def truth(case: Drawn) -> float:
    """The risk in extended precision throughout."""
    return _mean(case, *(_counts(case) if case.form == "lattice" else _inputs(case)))


def outside(number: int) -> tuple[str, float]:
    """The route taken, and how many stated errors the risk of case `number` is off."""
    case = drawn(number)
    risk = population_risk(case.attention, case.problem, readout=case.readout, loss=case.loss)
    assert risk.kind == "exact", (number, risk)
    gap = abs(risk.value - truth(case))
    return risk.route, gap / risk.error if gap else 0.0
