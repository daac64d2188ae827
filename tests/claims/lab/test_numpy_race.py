import numpy as np
import pytest

from paritylab.claims.lab.numpy_race import (
    Net,
    Pointers,
    labelled_rows,
    mean_hinge_squared,
    minus_log_correlation,
    shares_wrong,
    squared_hinge,
)
from paritylab.models import Circle, FeedForward, HeadAttention, as_readout
from paritylab.problem import Parity, random_parities

TARGETS = random_parities(6, 2, 3, key=0)
LOSSES = {
    squared_hinge: lambda y, made: np.mean(np.maximum(0, 1 - y * made) ** 2, axis=1),
    mean_hinge_squared: lambda y, made: np.mean(np.maximum(0, 1 - y * made), axis=1) ** 2,
    minus_log_correlation: lambda y, made: -np.log(np.abs(np.mean(y * made, axis=1))),
}
MODELS = {
    Net(3): squared_hinge,
    Pointers(2, 1.5): mean_hinge_squared,
    Pointers(2, 1.5, b=0.1): mean_hinge_squared,
    Pointers(2, 1.5, correlated=True): minus_log_correlation,
}


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_slope_is_the_difference(model):
    rows = labelled_rows(TARGETS, 20, 0)
    x, h = model.inputs(rows.bits), 1e-6
    numbers = model.start(np.random.default_rng(1), len(TARGETS), 6)
    loss = LOSSES[MODELS[model]]
    found = model.slope(numbers, x, rows.labels)
    for number in range(numbers.shape[1]):
        shift = h * np.eye(numbers.shape[1])[number][None]
        ahead, behind = (
            loss(rows.labels, model.predict(numbers + sign * shift, x)) for sign in (1, -1)
        )
        assert np.allclose(found[:, number], (ahead - behind) / (2 * h), atol=1e-6)


def test_the_net_is_the_feed_forward_model():
    numbers = Net(3).start(np.random.default_rng(0), 1, 6)
    hidden, thresholds, output = numbers[0, :18].reshape(3, 6), numbers[0, 18:21], numbers[0, 21:24]
    model = FeedForward(hidden, thresholds, output, numbers[0, 24], np.ones((3, 6)), signs=True)
    bits = labelled_rows(TARGETS[:1], 4, 0).bits
    made = [float(model(row)) for row in bits[0]]
    assert Net(3).predict(numbers, 1 - 2 * bits)[0] == pytest.approx(made, rel=1e-5)


@pytest.mark.parametrize("correlated", [False, True])
def test_the_pointers_are_the_heads(correlated):
    pointers = Pointers(2, 0.7, correlated=correlated)
    numbers = pointers.start(np.random.default_rng(0), 1, 6)
    readout = as_readout("cos" if correlated else "zigzag", 2)
    model = HeadAttention(numbers.reshape(2, 2), Circle(6), 2, readout, tau=0.7)
    bits = labelled_rows(TARGETS[:1], 4, 0).bits
    made = [float(model(row)) for row in bits[0]]
    assert pointers.predict(numbers, bits)[0] == pytest.approx(made, abs=1e-4)


def test_rows_carry_their_parity_and_a_bit_is_learnt():
    targets = [Parity(6, (2,)), Parity(6, (5,))]
    rows = labelled_rows(targets, 60, 0)
    assert np.array_equal(rows.labels[0], 1 - 2 * rows.bits[0, :, 2])
    wrong = shares_wrong(Net(2), rows, targets, (0.0, 0.05), steps=200, seed=0)
    assert wrong.shape == (2, 2)
    assert wrong[1].max() < 0.05 < wrong[0].max()
