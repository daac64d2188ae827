"""Closed forms of shifted rows against enumeration, and the limits they give."""

from itertools import product

import numpy as np
import pytest

from paritylab.theory.ks import COSINE
from paritylab.theory.shift import flips_limit, lies_limit, shift_limit, shifted_part


def pulls(tokens, node):
    """-∂L/∂w of every token of a node, averaged over the given rows of signs."""
    z = tokens.mean(axis=1)
    residual = (-np.cos(np.pi * z) - node) * np.pi * np.sin(np.pi * z)
    return -np.mean(residual[:, None] * (tokens - z[:, None]), axis=0) / tokens.shape[1]


@pytest.mark.parametrize("inner", [None, 2])
def test_shifted_rows_by_enumeration(inner):
    """Two children, fair or both +1, three others, and four bits of A that share a sign."""
    free = np.array(list(product([1.0, -1.0], repeat=6)))
    if inner:
        free[:, :2] = 1
    tokens = np.concatenate([free[:, :5], np.repeat(free[:, 5:], 4, axis=1)], axis=1)
    found = pulls(tokens, free[:, 0] * free[:, 1])
    part = shifted_part(9, 4, COSINE, inner)
    np.testing.assert_allclose([part.child, part.member], [found[0], found[-1]], rtol=1e-12)


def test_limits_are_of_the_order_of_one_over_the_members():
    few = [shift_limit(1024, 512, a, 30.0, COSINE).overtaken * (a - 1) for a in (4, 8)]
    np.testing.assert_allclose(few, 1, rtol=0.35)
    limit = shift_limit(1024, 512, 512, 30.0, COSINE, inside=True)
    assert limit.broken < limit.overtaken < 0.01
    assert lies_limit(1024, 512, 20.0, COSINE) == pytest.approx(0.04 / 2.25, rel=0.02)
    assert (
        0 < flips_limit(64, 32, 65_536.0, 7.4, COSINE) < flips_limit(64, 32, 65_536.0, 9.0, COSINE)
    )
    with pytest.raises(ValueError, match="cannot hold"):
        shifted_part(4, 8, COSINE)
