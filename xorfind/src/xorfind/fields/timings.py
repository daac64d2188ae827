"""A threshold between fast and slow, from the timings alone, and a picture of it.

Timings are taken for a mixture of two normal laws and a few stray values anywhere. The threshold
lies where slow becomes likelier than fast. It counts only if fewer timings lie about it than about
either hump: in the tail of a single skewed hump there are more.
"""

from typing import NamedTuple

import numpy as np

#: Values that stand for all timings, steps of the mixture, and rows of the picture.
POINTS, STEPS, SHOWN = 4096, 60, 24
#: Shares of fast timings from which the mixture starts.
STARTS = (0.5, 0.75, 0.9, 0.95, 0.98)
#: Standard errors by which the valley between two humps must be lower than either.
DEEP = 2.0
#: Timings farther from the median than this many interquartile ranges are interrupts.
FAR = 40.0
#: Timings more than this many deviations slower than slow ones are left out, too.
STRAY = 5.0


class Threshold(NamedTuple):
    """Where timings are cut. value: slower is above. top: what is above that was interrupted and
    is left out. separates: whether there is a valley between two humps, or a person named the
    value."""

    value: float
    top: float
    separates: bool

    def slow(self, times: np.ndarray) -> np.ndarray:
        """Flags of the slow ones."""
        return np.asarray((times > self.value) & (times <= self.top))

    def fast(self, times: np.ndarray) -> np.ndarray:
        """Flags of the fast ones."""
        return np.asarray(times <= self.value)


def threshold(times: np.ndarray, given: float | None = None) -> Threshold:
    """The cut between fast and slow.

    >>> draw = np.random.default_rng(0)
    >>> times = np.concatenate([draw.normal(200, 8, 970), draw.normal(290, 10, 30)])
    >>> 220 < threshold(times).value < 275
    True
    """
    values = np.asarray(times, float)
    if not np.isfinite(values).all():
        raise ValueError("timings must be finite numbers")
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    reach = max(FAR * (high - low), abs(middle), 1e-9)
    if given is not None:
        return Threshold(given, max(middle + reach, 2 * given), True)
    inside = values[np.abs(values - middle) <= reach]
    if inside.min() == inside.max():
        raise ValueError("all timings are equal; there is nothing to cut")
    means, deviations, cut = _mixture(inside)
    top = float(min(middle + reach, means[1] + STRAY * deviations[1]))
    return Threshold(cut, top, _is_valley(inside, cut, means, deviations))


def _mixture(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Means and deviations of the fast and the slow law, and the cut between them.

    Expectation and maximisation from several starts; the start that ends likeliest is kept.
    """
    from scipy.stats import norm

    points = np.quantile(values, (np.arange(POINTS) + 0.5) / POINTS)
    span = points[-1] - points[0]
    least = max((np.quantile(points, 0.75) - np.quantile(points, 0.25)) / 5, span / 1000)
    made = []
    for start in STARTS:
        split = int(start * POINTS)
        halves = points[:split], points[split:]
        means = np.array([np.median(half) for half in halves])
        deviations = np.array([max(half.std(), least) for half in halves])
        weights = np.array([start, 1 - start, 0.01])
        for _ in range(STEPS):
            parts = norm.pdf(points, means[:, None], deviations[:, None]) * weights[:2, None]
            parts = np.concatenate([parts, np.full((1, POINTS), weights[2] / span)])
            whole = parts.sum(axis=0)
            shares = parts / whole
            weights = shares.mean(axis=1)
            each = shares[:2].sum(axis=1) + 1e-9
            means = shares[:2] @ points / each
            squares = (shares[:2] * (points - means[:, None]) ** 2).sum(axis=1) / each
            deviations = np.maximum(np.sqrt(squares), least)
        made.append((float(np.log(whole).sum()), means, deviations, weights))
    _, means, deviations, weights = max(made, key=lambda each: each[0])
    order = np.argsort(means)
    means, deviations, weights = means[order], deviations[order], weights[:2][order]
    between = np.linspace(means[0], means[1], 2001)
    fast, slow = norm.pdf(between, means[:, None], deviations[:, None]) * weights[:, None]
    return means, deviations, float(between[int((slow >= fast).argmax())])


def _is_valley(values: np.ndarray, cut: float, means: np.ndarray, deviations: np.ndarray) -> bool:
    """Whether fewer timings lie about the cut than about either mean.

    Windows are one deviation wide.
    """
    deep = []
    for mean, reach in zip(means, deviations / 2, strict=True):
        valley = int((np.abs(values - cut) <= reach).sum())
        hump = int((np.abs(values - mean) <= reach).sum())
        deep.append(hump - valley > DEEP * np.sqrt(hump + valley))
    return all(deep)


def histogram_lines(times: np.ndarray, cut: Threshold, bar: str = "█") -> list[str]:
    """The histogram as text, with the cut in its place; timings far above are counted last."""
    values = np.asarray(times, float)
    inside = values[values <= cut.top]
    counts, edges = np.histogram(inside, SHOWN)
    most, marked, lines = counts.max(), False, []
    for count, start, end in zip(counts, edges, edges[1:], strict=False):
        if not marked and cut.value < end:
            lines.append(f"  {'-' * 12} threshold {cut.value:.6g} {'-' * 12}")
            marked = True
        # Square roots: the slow hump is small and must be seen.
        length = round(40 * np.sqrt(count / most)) if count else 0
        lines.append(f"  {start:10.6g}  {bar * max(length, int(count > 0))} {count:,}")
    if far := len(values) - len(inside):
        lines.append(f"  above {cut.top:.6g}: {far:,}, taken for interrupts and left out")
    return lines
