"""What one gradient step of two heads promises on XOR (HG2), derived here.

The full text of HG2 is not public; these formulas are for our reconstruction of its model.
"""

import itertools
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.stats import chi2


def median_worst_error(n: int, width: int, gain: float) -> float:
    """Median over draws of the largest |ŷ - y| after one step, for random sign positions.

    With the mean position not 0 the two weights differ: g_i - g_j is normal with variance
    2β²/(n·m), and the worst error of a pair without other weight is 2(g_i - g_j)². n: positions.
    width: m. gain: β.

    >>> round(median_worst_error(1024, 84, 20.0), 4)
    0.0085
    """
    return float(chi2.ppf(0.5, 1)) * 4 * gain**2 / (n * width)


def pair_signal(function: Callable[[np.ndarray], float], bits: int) -> Float[np.ndarray, " bits"]:
    """-Σ_{j≠i} E[f·x_i·x_j] for every relevant bit i: what the first step sees of f.

    function: f, a label from `bits` signs. With the readout 1 - 2z² and the correlation loss bit i
    gains weight faster than irrelevant ones by 4/n times this.

    >>> pair_signal(lambda x: -x[0] * x[1], 2).tolist()
    [1.0, 1.0]
    """
    inputs = np.array(list(itertools.product([1.0, -1.0], repeat=bits)))
    labels = np.array([function(signs) for signs in inputs])
    table = np.einsum("s,si,sj->ij", labels, inputs, inputs) / len(labels)
    np.fill_diagonal(table, 0)
    return -table.sum(axis=1)


def linear_share(n: int, width: int, error: float) -> float:
    """Largest share of pairs for which linear attention can be within `error` on every input.

    Weights (score + constant)·scale of any number of heads lie in a space of r = width + 1
    dimensions, however they were trained. Being within e of y = -x_i·x_j with the readout 1 - 2z²
    forces the angle θ between g and e_i + e_j to tan²θ ≤ (e/2 + R²)/(1 - e/2), where R = (√(1 +
    e/2) - √(1 - e/2))/2 bounds the weight off the pair. Averaged over all pairs the largest cos²θ
    in the space is at most r/n + (n - r)/(n(n - 1)), the trace of its projection; Markov's
    inequality does the rest.

    >>> round(linear_share(1024, 84, 0.1), 2)
    0.09
    """
    if not 0 < error < 2 or n < 3:
        raise ValueError(f"need 0 < error < 2 and n ≥ 3, got {error} and {n}")
    rank = min(width + 1, n)
    mean = rank / n + (n - rank) / (n * (n - 1))
    outside = (np.sqrt(1 + error / 2) - np.sqrt(1 - error / 2)) / 2
    tangent = (error / 2 + outside**2) / (1 - error / 2)
    return float(min(1.0, mean * (1 + tangent)))
