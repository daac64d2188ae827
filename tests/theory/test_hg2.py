"""Predictions for one XOR step, against draws and against the exact gradient."""

import numpy as np
import pytest

from paritylab.learning.xor.exact import first_gradient
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import streamed_step
from paritylab.models import Bowl
from paritylab.theory.hg2 import median_worst_error, pair_signal

X64_MODES = [False]


def test_the_median_worst_error_is_that_of_many_draws():
    n, gain = 4096, default_gain(4096)
    width = usual_width(n)
    steps = [streamed_step(n, width, [gain], pairs=20, seed=seed) for seed in range(10)]
    measured = np.median([step.error for step in steps])
    assert measured == pytest.approx(median_worst_error(n, width, gain), rel=0.3)


@pytest.mark.parametrize(
    ("bits", "function", "signal"),
    [
        (2, lambda x: -x[0] * x[1], [1, 1]),
        (2, lambda x: x[0], [0, 0]),
        (3, lambda x: x[0] * x[1] * x[2], [0, 0, 0]),
        (3, lambda x: -1.0 if abs(x.sum()) == 3 else 1.0, [1, 1, 1]),
    ],
)
def test_the_first_gradient_sees_pairs_only(bits, function, signal):
    np.testing.assert_allclose(pair_signal(function, bits), signal, atol=1e-12)
    first = first_gradient(40, function, bits, Bowl(), "correlation")
    np.testing.assert_allclose(40 * (first.other - first.relevant) / 4, signal, atol=1e-9)
