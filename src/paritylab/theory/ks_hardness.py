"""KS, Section 3.1: what an approximate oracle can hide, with the constants written out."""

import math


def hidden_share_bound(error: float, *, targets: int, gradient: float, queries: int) -> float:
    """Largest share of targets that `queries` answers within `error` of the mean fail to hide.

    By Chebyshev 4·F²·T/(|P|·ε²) for the loss E(p - f)², because Var ≤ 4F²/|P|. targets: |P|.
    gradient: F², a bound on E‖∇f‖². queries: T.

    >>> round(hidden_share_bound(0.1, targets=4000, gradient=1.0, queries=1), 3)
    0.1
    """
    return 4 * gradient * queries / (targets * error**2)


def fixed_answer_share(gap: float, targets: int) -> float:
    """Largest share of targets on which one fixed answer has a zero-one loss of ½ - gap or less.

    Parseval gives Σ_p E[p·f]² ≤ 1 for f = ±1, and the loss is ½ - E[p·f]/2: 1/(4·gap²·|P|).

    >>> round(fixed_answer_share(0.1, 100), 6)
    0.25
    """
    return 1 / (4 * gap**2 * targets)


def theorem2_bound(
    n: int, *, targets: int, samples: int, queries: int | float, error: float, gradient: float
) -> float:
    """Bound (5) on E(p - f)² without its exponential term; below 0 it says nothing.

    1 - (4T/ε²)·(1/|P| ∨ √(4n/N))·sup‖∇f‖², with gradient = sup‖∇f‖².
    """
    correlation = max(1 / targets, math.sqrt(4 * n / samples))
    return 1 - 4 * queries / error**2 * correlation * gradient


def theorem2_samples(
    n: int, *, targets: int, queries: int | float, error: float, gradient: float
) -> float:
    """N from which bound (5) is at least ½; infinite if the targets are too few for that.

    >>> given = dict(targets=10**12, queries=3, error=0.1, gradient=0.5)
    >>> samples = theorem2_samples(40, **given)
    >>> round(theorem2_bound(40, samples=round(samples), **given), 6)
    0.5
    """
    correlation = error**2 / (8 * queries * gradient)
    return 4 * n / correlation**2 if correlation >= 1 / targets else math.inf
