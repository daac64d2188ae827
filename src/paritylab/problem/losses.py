"""Losses: risk = outer(E[pointwise(y, ŷ)]), so that functions of a mean fit the same mould."""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float


def _same(mean):
    return mean


@dataclass(frozen=True)
class Loss:
    """risk = outer(E[pointwise(y, ŷ)]).

    pointwise: statistic of one example, label y in {+1,-1} first. outer: function of its mean;
    the identity for ordinary losses. quadratic_pieces: pointwise is a polynomial of degree ≤ 2 in ŷ
    on each side of ŷ = -1 and ŷ = +1, which lets exact routes integrate it piece by piece.
    """

    name: str
    pointwise: Callable[[Float[Array, "..."], Float[Array, "..."]], Float[Array, "..."]]
    outer: Callable[[Float[Array, ""]], Float[Array, ""]] = _same
    quadratic_pieces: bool = False

    def noisy(self, y, prediction, noise):
        """E over the label flip: (1-ν)·pointwise(y, ŷ) + ν·pointwise(-y, ŷ)."""
        return (1 - noise) * self.pointwise(y, prediction) + noise * self.pointwise(-y, prediction)


def _hinge(y, prediction):
    return jnp.maximum(0, 1 - y * prediction)


def _squared_hinge(y, prediction):
    return _hinge(y, prediction) ** 2


def _squared(y, prediction):
    return (prediction - y) ** 2 / 2


def _product(y, prediction):
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


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name; a `Loss` passes unchanged.

    >>> as_loss("hinge").name
    'hinge'
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)} or a Loss, got {loss!r}")
    return LOSSES[loss]
