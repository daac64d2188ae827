"""Losses: risk = outer(E[pointwise(y, ŷ)]), so that functions of a mean fit the same mould."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

from paritylab._support.checks import shortened
from paritylab._support.precision import AnyArray, float64
from paritylab._support.user_functions import check_scalar_function, name_of

_T = TypeVar("_T")
_A = TypeVar("_A", Array, np.ndarray)

#: The statistic of labels y and predictions ŷ, entry by entry.
Pointwise = Callable[[Num[Array, "..."], Float[Array, "..."]], Float[Array, "..."]]


def _same(mean: _T) -> _T:
    return mean


@dataclass(frozen=True)
class Loss:
    """risk = outer(E[pointwise(y, ŷ)]).

    pointwise: statistic of one example, label y in {+1,-1} first. outer: function of its mean;
    the identity for ordinary losses. quadratic_pieces: pointwise is a polynomial of degree ≤ 2 in ŷ
    on each side of ŷ = -1 and ŷ = +1, which lets exact routes integrate it piece by piece.
    """

    name: str
    pointwise: Pointwise
    outer: Callable[[Float[Array, ""]], Float[Array, ""]] = _same
    quadratic_pieces: bool = False

    @property
    def is_mean(self) -> bool:
        """Whether the risk is the mean itself."""
        return self.outer is _same

    def noisy(
        self,
        y: AnyArray | float,
        prediction: Float[Array, "..."],
        noise: Float[AnyArray, ""] | float,
    ) -> Float[Array, "..."]:
        """E over the label flip: (1-ν)·pointwise(y, ŷ) + ν·pointwise(-y, ŷ)."""
        label = jnp.asarray(y, prediction.dtype) if isinstance(y, float) else jnp.asarray(y)
        kept, flipped = self.pointwise(label, prediction), self.pointwise(-label, prediction)
        return jnp.asarray((1 - noise) * kept + noise * flipped)


def _hinge(y: AnyArray | float, prediction: AnyArray) -> Array:
    return jnp.maximum(0, 1 - y * prediction)


def _squared_hinge(y: AnyArray | float, prediction: AnyArray) -> Array:
    return _hinge(y, prediction) ** 2


def _squared(y: _A | float, prediction: _A) -> _A:
    return (prediction - y) ** 2 / 2


def _product(y: _A | float, prediction: _A) -> _A:
    return y * prediction


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("squared_hinge", _squared_hinge, quadratic_pieces=True),
        Loss("hinge", _hinge, quadratic_pieces=True),
        Loss("mean_hinge_squared", _hinge, lambda mean: mean**2, quadratic_pieces=True),
        Loss("squared", _squared, quadratic_pieces=True),
        Loss("correlation", _product, lambda mean: -mean, quadratic_pieces=True),
        Loss(
            "log_correlation",
            _product,
            lambda mean: -jnp.log(jnp.abs(mean)),
            quadratic_pieces=True,
        ),
    )
}


def register_loss(
    name: str, *, outer: Callable[[Float[Array, ""]], Float[Array, ""]] = _same
) -> Callable[[Pointwise], Pointwise]:
    """Give a function of y and ŷ the name by which learners, sweeps and the command line know it.

    outer: of the mean, as in `Loss`; the identity for ordinary losses.

    >>> @register_loss("logistic")
    ... def logistic(y, prediction):
    ...     return jnp.logaddexp(0, -y * prediction)
    >>> as_loss("logistic").is_mean
    True
    >>> del LOSSES["logistic"]
    """

    def enter(pointwise: Pointwise) -> Pointwise:
        loss = Loss(name, pointwise, outer)
        _check(loss)
        LOSSES[name] = loss
        return pointwise

    return enter


def as_loss(loss: object) -> Loss:
    """A loss from its name, from a function loss(y, ŷ) of two numbers, or a `Loss` as it is.

    >>> as_loss("hinge").name
    'hinge'
    >>> as_loss(lambda y, prediction: jnp.logaddexp(0, -y * prediction)).name
    '<lambda>'
    """
    found = LOSSES.get(loss) if isinstance(loss, str) else loss
    if callable(found):
        found = Loss(name_of(found), cast(Pointwise, found))
    if not isinstance(found, Loss):
        raise ValueError(
            f"loss must be one of {', '.join(LOSSES)}, a function of (y, ŷ) or a Loss, "
            f"got {shortened(loss)}"
        )
    if LOSSES.get(found.name) != found:
        _check(found)
    return found


def _check(loss: Loss) -> None:
    """A clear error unless the loss is a number for labels ±1 and predictions between them."""
    check_scalar_function(f"the loss {loss.name}", loss.pointwise, 2)
    check_scalar_function(f"outer of the loss {loss.name}", loss.outer, 1)
    # An even number of points leaves out 0, where a margin may divide by itself.
    predictions = np.linspace(-0.9, 0.9, 64)
    with float64(), jax.ensure_compile_time_eval():
        for y in (1.0, -1.0):
            values = jax.vmap(loss.pointwise, (None, 0))(jnp.asarray(y), jnp.asarray(predictions))
            if not isinstance(values, jax.core.Tracer) and np.isnan(np.asarray(values)).any():
                raise ValueError(
                    f"the loss {loss.name} is not a number for y={y:+.0f} and some |ŷ| < 1; "
                    "it must be defined for labels ±1 and predictions between them"
                )
