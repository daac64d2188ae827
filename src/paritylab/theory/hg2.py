"""What one gradient step of two heads promises on XOR (HG2), derived here.

The full text of HG2 is not public; these formulas are for our reconstruction of its model.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm


def median_worst_error(n: int, width: int, gain: float) -> float:
    """Median over draws of the largest |ŷ - y| after one step, for random sign positions.

    With the mean position not 0 the two weights differ: g_i - g_j is normal with variance
    2β²/(n·m), and the worst error of a pair without other weight is 2(g_i - g_j)². n: positions.
    width: m. gain: β.

    >>> round(median_worst_error(1024, 84, 20.0), 4)
    0.0085
    """
    return float(chi2.ppf(0.5, 1)) * 4 * gain**2 / (n * width)


def rows_to_rank(n: int, loss: str = "squared") -> float:
    """Rows N with which half of the first steps on one-hot positions put the pair on top.

    After N rows the pair's scores are √(N/(c·n)) standard deviations above the others. Under the
    correlation loss c = 1 and the two have noise of their own; under ½(ŷ-y)² c = 2 and they share
    it, because at w = 0 only rows with x_i = x_j push at leading order. N = c·n·s², where s puts
    the lower of the two above n - 2 standard normal scores with probability 1/2.

    >>> [round(rows_to_rank(256, loss)) for loss in ("squared", "correlation")]
    [4067, 2898]
    """
    if loss not in ("squared", "correlation"):
        raise ValueError(f"loss must be squared or correlation, got {loss!r}")
    grid = np.linspace(-8, 14, 4401)
    below = norm.cdf(grid) ** (n - 2)

    def chance(shift: float) -> float:
        lowest = norm.pdf(grid - shift)
        if loss == "correlation":
            lowest = 2 * lowest * norm.sf(grid - shift)
        return float(np.trapezoid(lowest * below, grid))

    needed = brentq(lambda shift: chance(shift) - 0.5, -2, 12)
    return float((2 if loss == "squared" else 1) * n * needed**2)


def rows_to_be_right(n: int, width: int, gain: float, error: float) -> float:
    """Rows N with which half of the first steps on random positions are within `error` everywhere.

    Under ½(ŷ-y)² the noise of n gradients reaches each score through PPᵀ, so the scores of the pair
    differ by a normal number of variance 4β²n²/(m·N), and the largest error 2·tanh²(Δ/2) of a
    pair without other weight is in bounds for |Δ| ≤ 2·artanh √(error/2). width: m. gain: β.

    >>> round(rows_to_be_right(64, 50, 14.3, 0.02**0.5) / 1000)
    103
    """
    bound = 2 * np.arctanh(np.sqrt(error / 2))
    return float(chi2.ppf(0.5, 1) * 4 * gain**2 * n**2 / (width * bound**2))


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
