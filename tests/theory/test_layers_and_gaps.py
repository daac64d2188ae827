"""Rows of hidden chains and of chains with gaps: closed forms by other routes."""

from itertools import product

import numpy as np
import pytest

from paritylab.theory.gaps import (
    GapLink,
    link_noise,
    link_signal,
    matched_link,
    rows_to_balance_links,
    rows_to_find_links,
)
from paritylab.theory.layers import level_steps, level_tokens, rows_for_hidden_chain

X64_MODES = [False]


def by_hand(tokens, q, link):
    """Child minus other, and one entry's standard deviation, over all 2^M rows."""
    rows = np.array(list(product((1.0, -1.0), repeat=tokens)))
    z = rows.mean(axis=1)
    residual = (link(z) - rows[:, :q].prod(axis=1)) * link.slope(z) / tokens
    return -np.mean(residual * (rows[:, 0] - rows[:, -1])), np.sqrt(np.mean(residual**2))


@pytest.mark.parametrize(("tokens", "q"), [(9, 2), (10, 4), (10, 8)])
@pytest.mark.parametrize("own", [True, False])
def test_the_gradient_of_a_gapped_step_is_a_sum_over_all_inputs(tokens, q, own):
    link = matched_link(q) if own else GapLink(-1.0, np.pi)
    signal, noise = by_hand(tokens, q, link)
    assert link_signal(tokens, q, link) == pytest.approx(signal, rel=1e-9, abs=1e-15)
    assert link_noise(tokens, q, link) == pytest.approx(noise, rel=1e-9)


def test_a_wrong_link_finds_nothing_and_senseless_orders_are_one_line():
    assert rows_to_find_links(16, 4, link=GapLink(-1.0, np.pi)) == np.inf
    assert rows_to_balance_links(16, 4, 5.0) > rows_to_find_links(16, 4)
    for call in (lambda: matched_link(3), lambda: link_signal(4, 4, matched_link(4))):
        with pytest.raises(ValueError, match=r"even|more tokens"):
            call()
    with pytest.raises(ValueError, match="balance by themselves"):
        rows_to_balance_links(16, 2, 5.0)


def test_levels_have_steps_of_their_own():
    steps = level_steps(64, 32, 8000)
    assert [step.tokens for step in steps] == list(level_tokens(64, 32))
    assert steps[-1].eta == 0  # two tokens are its children already
    etas = [step.eta for step in steps]
    assert etas == sorted(etas, reverse=True)
    half = level_steps(64, 32, rows_for_hidden_chain(64, 32))
    assert sum(step.broken for step in half) == pytest.approx(np.log(2), rel=0.05)
    staged = level_steps(64, 32, 8000, staged=True)
    assert sum(step.broken for step in staged) > sum(step.broken for step in steps)
