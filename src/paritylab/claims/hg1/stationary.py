"""Where heads come to rest, and how the risk's gradient vanishes with the risk near the set."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.models import HeadAttention
from paritylab.precision import float64
from paritylab.problem import LOSSES, Parity, all_bits
from paritylab.risk import model_gradient
from paritylab.risk.objective import target_of, weight_risk


class Rest(NamedTuple):
    """Heads after descent and Newton's steps; a strict local minimum if `is_minimum`.

    directions: (heads, width). risk: squared hinge over all inputs. gradient: its norm. eigenvalue:
    the least of the Hessian. kink: least |1 - y·ŷ| over all inputs; where it is positive the risk
    is twice differentiable, provided that the readout is.
    """

    directions: np.ndarray
    risk: float
    gradient: float
    eigenvalue: float
    kink: float

    @property
    def is_minimum(self) -> bool:
        return self.gradient < 1e-8 and self.eigenvalue > 1e-3 and self.kink > 1e-6


def settle(model: HeadAttention, problem: Parity, *, eta: float = 0.01, steps: int = 2000) -> Rest:
    """Follow exact gradient descent from the model's heads, then polish by ten Newton steps.

    A strict local minimum with positive risk attracts a whole neighbourhood, so no small step
    leaves it and, as descent depends continuously on where it starts, starts near this one end in
    it too.

    >>> from paritylab.models import Zigzag
    >>> problem = Parity(8, (0, 3))
    >>> start = HeadAttention.at((1, 6), problem, readout=Zigzag(2, 0.01), tau=1 / 8)
    >>> settle(start, problem).is_minimum
    True
    """
    with float64():
        risk = _risk_of(model, problem)
        slope = jax.grad(risk)
        look = jax.jit(lambda p: (risk(p), slope(p), jax.hessian(risk)(p)))
        descend = jax.jit(lambda p: jax.lax.fori_loop(0, steps, lambda _, q: q - eta * slope(q), p))
        rest = _newton(look, np.asarray(descend(np.asarray(model.directions, float).ravel())))
        value, gradient, curvature = look(rest)
        directions = rest.reshape(model.directions.shape)
        kink = _distance_to_kinks(model.with_parameters(directions), problem)
    eigenvalue = np.linalg.eigvalsh(curvature)[0]
    return Rest(directions, float(value), float(np.linalg.norm(gradient)), float(eigenvalue), kink)


def _risk_of(model: HeadAttention, problem: Parity) -> Callable[[Any], Any]:
    risk = weight_risk(model.readout, LOSSES["squared_hinge"], problem.n, problem.k)
    target, shape = target_of(problem), model.directions.shape
    return lambda flat: risk(model.with_parameters(flat.reshape(shape)).weights(), target)


def _newton(look: Callable[[Any], Any], start: np.ndarray) -> np.ndarray:
    """Up to ten Newton steps, as long as each makes the gradient smaller."""
    _, gradient, curvature = look(start)
    for _ in range(10):
        moved = start - np.linalg.lstsq(curvature, gradient)[0]
        _, slope, bend = look(moved)
        if np.linalg.norm(slope) >= np.linalg.norm(gradient):
            break
        start, gradient, curvature = moved, slope, bend
    return start


def _distance_to_kinks(model: HeadAttention, problem: Parity) -> float:
    least = np.inf
    for bits in all_bits(problem.n):
        made = jax.vmap(model)(bits.astype(jnp.float64))
        least = min(least, float(jnp.abs(1 - problem.label(bits) * made).min()))
    return least


def gradient_ratio(model: HeadAttention, problem: Parity, least: float = 0.0) -> float:
    """½‖∇L‖²/E², E = L - least the excess of the squared-hinge risk L over all inputs.

    Where it tends to a constant c, descent with a small step η has E ≈ 1/(2c·ηt): dE/dt = -‖∇L‖² =
    -2c·E². A Polyak–Łojasiewicz inequality ½‖∇L‖² ≥ μE would make it grow like 1/E.
    """
    risk, gradient, _ = model_gradient(model, problem)
    return float(np.sum(np.square(gradient)) / 2 / (risk.value - least) ** 2)
