"""Reading the hidden set off heads."""

from paritylab.claims.lab.training import favourites
from paritylab.models import HeadAttention
from paritylab.problem import Parity

X64_MODES = [False]
PROBLEM = Parity(16, (2, 7, 12))


def test_favourites_are_the_positions_with_most_attention():
    sharp = HeadAttention.at((12, 2, 7), PROBLEM, tau=1 / 400)
    assert set(favourites(sharp, 3)) == set(PROBLEM.subset)
    soft = HeadAttention.at((2, 7, 11), PROBLEM, tau=0.05)
    assert {2, 7, 11, 12} <= set(favourites(soft, 9))
