"""Temperatures, as numbers or as formulas in n."""

import re

_FORMULA = re.compile(r"(?P<top>[\d.]+)/n(?P<square>\^2|²)?|n(?:/(?P<bottom>[\d.]+))?")


def temperature(tau: float | int | str, n: int) -> float:
    """A temperature from a number or a formula: "0.5/n", "1/n^2", "n/4".

    >>> temperature("n/4", 20), temperature("1/n^2", 10)
    (5.0, 0.01)
    """
    try:
        value = float(tau)
    except ValueError:
        match = _FORMULA.fullmatch(str(tau).replace(" ", ""))
        if match is None:
            raise ValueError(
                f'tau must be a number or a formula such as "1/n", "1/n^2", "n/4", got {tau!r}'
            ) from None
        if match["top"]:
            value = float(match["top"]) / n ** (2 if match["square"] else 1)
        else:
            bottom = float(match["bottom"] or 1)
            value = n / bottom if bottom else float("inf")
    if not 0 < value < float("inf"):
        raise ValueError(f"tau must be positive and finite, got {tau!r}")
    return value
