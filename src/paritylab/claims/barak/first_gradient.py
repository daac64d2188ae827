"""The first gradient of one ReLU neuron on one batch: does it put the hidden set on top?"""

from collections.abc import Sequence

import jax
import numpy as np

from paritylab.learning.neighbours.strings import draw_strings, generator_of
from paritylab.problem import Parity

#: Rows held at once.
PIECE = 1 << 16


def first_gradient(target: Parity, rows: int, key: jax.Array) -> tuple[np.ndarray, tuple[int, ...]]:
    """ĝ_j = mean of y·x_j·1[wᵀx > 0] over fresh rows, w of random signs, and its k largest |ĝ_j|.

    With ŷ = 0 at the start this is minus the gradient of hinge and correlation loss in w, up to the
    output weight. Its mean is half of majority's Fourier coefficient times a sign. n: odd.
    """
    generator = generator_of(key, 0)
    weights = generator.choice(np.array([-1.0, 1.0], np.float32), target.n)
    total = np.zeros(target.n)
    for begin in range(0, rows, PIECE):
        packed, labels = draw_strings(generator, target, (min(PIECE, rows - begin),))
        signs = 1 - 2 * np.unpackbits(packed, axis=-1, count=target.n).astype(np.float32)
        total += (labels * (signs @ weights > 0)) @ signs
    order = np.argsort(-np.abs(total), kind="stable")[: target.k]
    return total / rows, tuple(sorted(order.tolist()))


def names_the_set(targets: Sequence[Parity], rows: int, keys: jax.Array) -> np.ndarray:
    """Flags: the k largest entries of each target's first gradient are exactly B."""
    pairs = zip(targets, keys, strict=True)
    return np.array([first_gradient(t, rows, key)[1] == t.subset for t, key in pairs])
