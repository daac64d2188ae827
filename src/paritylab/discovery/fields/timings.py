"""A threshold between fast and slow, from the timings alone, and a picture of it.

Kittler and Illingworth's rule: the cut whose two halves, taken for two normal laws, describe the
histogram best. It works where slow accesses are one in thirty, which splitting by variance does
not.
"""

from dataclasses import dataclass

import numpy as np

#: Bins of the histogram that is cut, and of the one that is shown.
FINE, SHOWN = 256, 24
#: Standard errors by which the valley between two humps must be lower than the slow one.
DEEP = 3.0
#: Timings farther from the median than this many interquartile ranges are interrupts.
FAR = 40.0


@dataclass(frozen=True)
class Threshold:
    """Where timings are cut. value: slower is above. top: what is above that was interrupted and
    is left out. separates: whether there is a valley between two humps, or a person named the
    value."""

    value: float
    top: float
    separates: bool

    def slow(self, times: np.ndarray) -> np.ndarray:
        """Flags of the slow ones."""
        flags: np.ndarray = (times > self.value) & (times <= self.top)
        return flags

    def fast(self, times: np.ndarray) -> np.ndarray:
        """Flags of the fast ones."""
        flags: np.ndarray = times <= self.value
        return flags


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
    reach = FAR * max(high - low, 1e-9)
    if given is not None:
        return Threshold(given, max(middle + reach, 2 * given), True)
    inside = values[np.abs(values - middle) <= reach]
    if inside.min() == inside.max():
        raise ValueError("all timings are equal; there is nothing to cut")
    counts, edges = np.histogram(inside, FINE)
    cut = _cut(counts.astype(float), edges)
    return Threshold(float(cut), float(middle + reach), _is_valley(inside, cut))


def _is_valley(values: np.ndarray, cut: float) -> bool:
    """Whether fewer timings lie about the cut than about the middle of either side.

    In the tail of a single hump there are more about the cut. Windows are one deviation wide.
    """
    deep = []
    for side in (values[values <= cut], values[values > cut]):
        reach = max(side.std(), 1e-9) / 2
        valley = int((np.abs(values - cut) <= reach).sum())
        hump = int((np.abs(values - np.median(side)) <= reach).sum())
        deep.append(hump - valley > DEEP * np.sqrt(hump + valley))
    return all(deep)


def _cut(counts: np.ndarray, edges: np.ndarray) -> float:
    middle, floor = (edges[1:] + edges[:-1]) / 2, (edges[1] - edges[0]) ** 2
    weight = counts / counts.sum()
    left = np.cumsum(weight)[:-1]
    first, second = np.cumsum(weight * middle)[:-1], np.cumsum(weight * middle**2)[:-1]
    whole, whole2 = (weight * middle).sum(), (weight * middle**2).sum()
    right = 1 - left
    with np.errstate(divide="ignore", invalid="ignore"):
        var_left = np.maximum(second / left - (first / left) ** 2, floor)
        var_right = np.maximum((whole2 - second) / right - ((whole - first) / right) ** 2, floor)
        cost = left * np.log(var_left) + right * np.log(var_right)
        cost -= 2 * (left * np.log(left) + right * np.log(right))
    least = 5 / counts.sum()
    cost = np.where((left > least) & (right > least), cost, np.inf)
    best = np.flatnonzero(cost <= cost.min() + 1e-12)
    return float(edges[1 + best[len(best) // 2]])


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
    if len(inside) < len(values):
        far = len(values) - len(inside)
        lines.append(f"  above {cut.top:.6g}: {far:,}, taken for interrupts and left out")
    return lines
