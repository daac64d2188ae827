"""A visible chain with the mask of the layers: enough rows solve it, a tenth does not."""

from paritylab.claims.lab.visible_chain import visible_chains_solve
from paritylab.problem import random_trees
from paritylab.theory.layers import rows_for_hidden_chain


def test_rows_decide_whether_a_visible_chain_is_learnt():
    trees, rows = list(random_trees(32, 16, 6, key=0)), rows_for_hidden_chain(32, 16)
    assert visible_chains_solve(trees, int(4 * rows), 0).all()
    assert not visible_chains_solve(trees, int(rows / 10), 0).any()
