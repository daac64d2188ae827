"""Feed-forward learners: what they learn, and what a missing edge costs them."""

from itertools import combinations

import numpy as np
import pytest

from paritylab.learning import AllInputs, FeedForwardNet, learn
from paritylab.learning.hardness.frozen import (
    random_features,
    smallest_pair_loss,
    worst_shares,
)
from paritylab.models import parity_network
from paritylab.problem import Parity

PAIR = Parity(5, (0, 3))


def trained(**options):
    """Settings differ only in numbers, so one compiled loop serves all."""
    learner = FeedForwardNet(16, **{"steps": 500, "eta": 0.03, **options})
    return learn(learner, AllInputs(PAIR), runs=4)


@pytest.fixture(scope="module")
def whole():
    return trained()


def test_a_net_learns_a_pair_and_says_what_it_cost(whole):
    assert whole.rate().value == 1
    assert whole.recovered.sum() == 0  # a net names no set
    assert whole.kind == "exact"
    np.testing.assert_array_equal(whole.stats["accuracy"], 1)
    np.testing.assert_array_equal(whole.stats["numbers"], 16 * 7 + 1)
    norms = [whole.model(run).norms() for run in range(4)]
    np.testing.assert_allclose(whole.stats["norms"], norms)


def test_a_net_without_an_edge_stays_at_chance():
    cut = trained(missing=(3,))
    assert cut.risk.min() >= 1 - 1e-9
    np.testing.assert_array_equal(cut.stats["numbers"], 16 * 6 + 1)
    assert smallest_pair_loss(cut.model(0), PAIR, 3) >= 2 - 1e-9


def test_a_diverging_net_has_no_risk_and_no_success():
    runs = trained(eta=1e300)
    assert runs.diverged.all()
    assert runs.rate().value == 0


def test_the_pair_loss_of_an_exact_net_is_zero():
    assert smallest_pair_loss(parity_network(PAIR), PAIR, 3) == 0


def test_shares_of_all_parities_add_up_to_the_features():
    pairs = list(combinations(range(5), 2))
    features = random_features(5, 32)
    shares = worst_shares(features, pairs)
    assert np.all(np.diff(shares) >= -1e-12)
    assert shares[-1] == pytest.approx(1)
    assert np.all(shares <= np.arange(1, 33) / len(pairs) + 1e-12)
