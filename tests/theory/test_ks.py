"""KS's signals and bounds as functions."""

import numpy as np
import pytest

from paritylab.models import LINKS
from paritylab.theory.ks import (
    child_signal,
    lemma4_bound,
    lemma6_squares,
    lemma9_kappa,
    lemma10_bounds,
    level_signal,
    samples_to_find_children,
)


@pytest.mark.parametrize("name", LINKS)
def test_the_signal_tends_to_twice_the_curvature_over_the_square(name):
    link = LINKS[name]
    assert child_signal(20_000, link) == pytest.approx(2 * link.curvature / 20_000**2, rel=5e-3)


def test_the_signal_of_cos_is_nearly_its_formula():
    m = 64
    formula = (np.pi / m) * (1 - 2 / m) * np.sin(np.pi / m) * np.cos(np.pi / m) ** (m - 1)
    assert child_signal(m, LINKS["cos"]) == pytest.approx(formula, rel=5e-3)


def test_the_first_level_does_not_know_the_tree():
    for k in (2, 8, 32):
        same = level_signal(64, k, 1, LINKS["cos"])
        assert same == pytest.approx(child_signal(64, LINKS["cos"]), rel=1e-12)
    with pytest.raises(ValueError, match="level must be"):
        level_signal(64, 8, 4, LINKS["cos"])
    with pytest.raises(ValueError, match="at least 3"):
        child_signal(2, LINKS["cos"])


def test_bounds_order_as_the_proofs_say():
    before, printed, repaired = lemma6_squares(8, LINKS["cos"])
    assert printed < before <= repaired
    assert lemma4_bound(5, LINKS["quadratic"]) == 16
    assert lemma9_kappa(16, 10_000, 0.1) < lemma9_kappa(16, 1000, 0.1)
    middle, last = lemma10_bounds(64, 2, 256, 0.1)
    assert middle < last
    assert 90 < samples_to_find_children(64, 32) / 64 < 100
