"""What makes no model: names, sizes and users' functions, each in one clear line."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import (
    ChainModel,
    FullFormAttention,
    HeadAttention,
    OneHot,
    RandomSigns,
    SlopedLink,
    Zigzag,
    as_code,
    as_link,
    attend,
    interpolating_network,
    tied_network,
)
from paritylab.models.transformer import as_places
from paritylab.problem import Parity

PROBLEM = Parity(7, (1, 3, 6))
TABLE = jnp.zeros((5, 4))


def heads(**options):
    return HeadAttention.random(0, PROBLEM, **options)


def branch(t):
    return -jnp.cos(jnp.pi * t) if t < 2 else t


REFUSED = [
    (lambda: Zigzag(0), "whole number k ≥ 1, got k=0"),
    (lambda: Zigzag(2, math.nan), "smoothing b must be ≥ 0"),
    (lambda: HeadAttention.on(PROBLEM, tau=math.nan), "tau must be positive"),
    (lambda: heads(heads=0), "heads must be at least 1"),
    (lambda: FullFormAttention.embed(heads(code=OneHot(7))), "on the circle, got OneHot"),
    (lambda: tied_network(heads(readout="cos")), "zigzag readout"),
    (lambda: interpolating_network(PROBLEM, np.ones(7)), "two sums are equal"),
    (lambda: attend(jnp.zeros(3), "cosine"), "attention must be one of"),
    (lambda: RandomSigns.draw(3, 50, 0), "width must be at least 1"),
    (lambda: as_code("spiral", 8, key=0, width=4), "positions must be"),
    (lambda: as_code("balanced", 7, key=0, width=4), "even n"),
    (lambda: as_code("signs", 8), "need a width"),
    (lambda: as_places(lambda n, width: np.ones((width, n)), TABLE), r"shape \(5, 4\), got \(4, 5"),
    (lambda: as_places("turned", TABLE), "positions must be one of learned"),
    (lambda: ChainModel.untrained(8, 4, mask="row"), "mask must be"),
    (lambda: SlopedLink(2.0), "slope must be in"),
    (lambda: as_link(3), "link must be one of cos, .*, an AbstractLink or an even function"),
    (lambda: as_link(lambda t: 2 * t**2), r"needs φ\(-1\) = 1, got 2"),
    (lambda: as_link(lambda t: 2 * jnp.abs(t) - 1 + jnp.sin(2 * jnp.pi * t)), "must be even"),
    (lambda: as_link(branch), "branch branches on its value.*use jnp.where"),
    (lambda: as_link(lambda t: -math.cos(math.pi * t)), "such as jnp.cos for math.cos"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_what_makes_no_model_is_one_clear_line(make, words):
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)
