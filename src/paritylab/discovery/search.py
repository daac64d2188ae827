"""`discover`: from a table and a target to a rule, or to nothing with its reasons."""

import itertools
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from paritylab.discovery.columns import Coding
from paritylab.discovery.prepare import Notes, Prepared, as_choices, prepare
from paritylab.discovery.reading import open_table
from paritylab.discovery.rules import Rule
from paritylab.discovery.words import chance, percent

if TYPE_CHECKING:
    from paritylab.solvers import Answer
    from paritylab.solvers.form import Better

Progress = Callable[[float, str], None]
#: Alternatives listed, and rows up to which the power of the test is computed exactly.
_MOST, _EXACT = 50, 300


@overload
def discover(table: Any, target: str, **options: Any) -> Rule: ...
@overload
def discover(table: Any, target: Sequence[str], **options: Any) -> list[Rule]: ...
def discover(table: Any, target: Any, **options: Any) -> Any:
    """Is there a small set of columns whose parity gives the target? One `Rule` per target.

    table: a path (CSV, TSV, NPZ, Parquet), a mapping from names to columns, or a data frame.
    target: a column, or a list of them. Options: k (size of the set), alpha (0.01), budget
    (seconds, 30 if absent), bits ("address:25-6"), threshold (a number, or numbers by column),
    missing ("refuse" or "drop"), method, key, progress (called with the share done and a text).

    >>> rows = {"a": [0, 1, 0, 1] * 20, "b": [0, 0, 1, 1] * 20, "y": [0, 1, 1, 0] * 20}
    >>> rule = discover(rows, "y")
    >>> rule.statement
    'y is 1 exactly when an odd number of {a, b} are true'
    >>> rule.apply({"a": [1], "b": [0]}).tolist()
    ['1']
    """
    targets = [target] if isinstance(target, str) else list(target)
    rules, _ = discover_all(table, targets, **options)
    return rules[0] if isinstance(target, str) else rules


def discover_all(
    table: Any,
    targets: Sequence[str],
    *,
    k: int | None = None,
    alpha: float = 0.01,
    budget: float | None = None,
    bits: Any = (),
    threshold: float | str | Sequence[str] | Mapping[str, float] | None = None,
    missing: str = "refuse",
    method: str = "auto",
    key: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Rule], Notes]:
    """Rules for several targets of one table, read once, and notes on its columns."""
    check_numbers(k, alpha, budget)
    choices = as_choices(bits, threshold, missing)
    with open_table(table) as opened:
        prepared = prepare(opened, targets, choices)
    if k is not None and k > len(prepared.codings):
        raise ValueError(
            f"k must be at most the number of usable columns, {len(prepared.codings)}, got {k}"
        )
    end = None if budget is None else time.monotonic() + budget
    rules = []
    for at, (coding, target) in enumerate(prepared.targets):
        left = None if end is None else max(end - time.monotonic(), 1e-3)
        options = {
            "k": k,
            "method": method,
            "alpha": alpha,
            "budget": None if left is None else left / (len(targets) - at),
            "key": key,
            "progress": _part_of(progress, at, len(targets)),
        }
        rules.append(_rule(prepared, coding, target, options))
    return rules, prepared.notes


def check_numbers(k: int | None, alpha: float, budget: float | None) -> None:
    """The numbers a search is asked with, before anything is read."""
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    if budget is not None and not budget > 0:
        raise ValueError(f"budget must be more than 0 seconds, got {budget}")


def _part_of(progress: Progress | None, at: int, targets: int) -> Progress | None:
    if progress is None:
        return None
    return lambda share, text: progress((at + share) / targets, text)


def _rule(prepared: Prepared, coding: Coding, target: np.ndarray, options: Any) -> Rule:
    from paritylab.solvers import solve

    labels = (1 - 2 * target.astype(np.int8)).astype(np.int8)
    answer = solve(prepared.bits, labels, **options)
    evidence = _evidence(answer, prepared, options)
    if answer.subset is None:
        return Rule(coding, (), True, evidence)
    subset, odd = tuple(answer.subset), answer.sign > 0
    if answer.better_table is not None:
        evidence["better_table"] = _better_told(answer.better_table, prepared)
        return Rule(coding, (), odd, evidence)
    evidence["profile"] = _profile(prepared.bits[:, list(subset)], target)
    evidence["uneven_errors"] = answer.uneven is not None
    return Rule(coding, tuple(prepared.codings[at] for at in subset), odd, evidence)


def _better_told(better: "Better", prepared: Prepared) -> str:
    columns = ", ".join(prepared.codings[at].phrase for at in better.columns)
    return (
        f"the more frequent answer to each combination of {{{columns}}} fits "
        f"{percent(better.fits)} of rows, the best parity {percent(better.parity)} "
        f"(chance of seeing this by luck {chance(better.p_value)})"
    )


def _evidence(answer: "Answer", prepared: Prepared, options: Any) -> dict[str, Any]:
    """What is known of the answer, ready for JSON."""
    names = [coding.name for coding in prepared.codings]
    facts: dict[str, Any] = {
        "rows": answer.rows,
        "agreement": float(answer.agreement),
        "noise_rate": float(answer.noise_rate),
        "noise_interval": [float(end) for end in answer.noise_interval],
        "p_value": float(answer.p_value),
        "alpha": options["alpha"],
        "better_table": None,
        "alternatives": [],
        "rows_needed": answer.rows_needed,
        "method": answer.method,
        "searched": answer.searched,
        "complete": answer.complete,
        "not_searched": _not_searched(answer, options["k"]),
        "seconds": round(answer.seconds, 3),
        "seen": [],
    }
    if answer.subset is not None:
        others = [[names[at] for at in each] for each in answer.equivalents[:_MOST]]
        mine = [names[at] for at in answer.subset]
        facts["alternatives"] = others + _swapped([mine, *others], prepared.notes)
        return facts
    known = options["k"] is not None
    for k in _sizes_searched(answer, options["k"]):
        if k <= len(names):
            least = least_agreement(len(names), k, answer.rows, options["alpha"], known)
            facts["seen"].append({"k": k, "agreement": least})
    return facts


def _not_searched(answer: "Answer", k: int | None) -> str | None:
    """What the budget left out."""
    if answer.complete:
        return None
    return "larger sets of columns" if k is None else f"the other sets of {k} columns"


def _sizes_searched(answer: "Answer", k: int | None) -> list[int]:
    """Up to three sizes that were searched in full, as the solver's sentence names them."""
    if k is not None:
        return [k] if answer.complete else []
    sizes = re.search(r"sizes? (\d+)(?: to (\d+))?", answer.searched)
    if sizes is None:
        return [1, 2, 3] if answer.complete else []
    # Where the budget ended, it ended within the last size.
    last = int(sizes[2] or sizes[1]) - (not answer.complete)
    return list(range(int(sizes[1]), last + 1))[:3]


def _swapped(subsets: list[list[str]], notes: Notes) -> list[list[str]]:
    """The same sets with columns replaced by their duplicates or complements."""
    made: list[list[str]] = []
    for subset in subsets:
        choices = [[name, *(other for other, _ in notes.twins.get(name, []))] for name in subset]
        every = itertools.islice(itertools.product(*choices), 1, _MOST + 1 - len(made))
        made += [list(each) for each in every]
        if len(made) >= _MOST:
            break
    return made


def _profile(bits: np.ndarray, target: np.ndarray) -> list[dict[str, Any]]:
    """Rows and share of true targets by the number of terms that are true."""
    from paritylab.statistics import rate_interval

    count = bits.sum(axis=1, dtype=np.int64)
    rows = np.bincount(count)
    true = np.bincount(count, weights=target).astype(int)
    made = []
    for number in np.flatnonzero(rows).tolist():
        low, high = rate_interval(int(true[number]), int(rows[number]))
        share = float(true[number] / rows[number])
        made.append(
            {"true": number, "rows": int(rows[number]), "share": share, "low": low, "high": high}
        )
    return made


def least_agreement(n: int, k: int, rows: int, alpha: float, known: bool) -> float | None:
    """The share of rows for which a parity of k of n columns must hold to be found in 99 of 100.

    None: these rows do not show even a parity without noise.
    """
    if rows <= _EXACT:
        from paritylab.solvers import detectable_noise

        noise = detectable_noise(n, k, rows, alpha, known=known)
        return None if noise is None else 1 - noise
    tests = math.comb(n, k) if known else sum(math.comb(n, size) for size in range(1, k + 1))
    # Two-sided normal tail: ln P(|Z| > z) ≈ -z²/2 - ln(z √(π/2)).
    level = math.log(tests) - math.log(alpha)
    z = math.sqrt(2 * level)
    z = math.sqrt(max(2 * (level - math.log(z * math.sqrt(math.pi / 2))), 1.0))
    strength = (z + 2.33) / math.sqrt(rows)
    return (1 + strength) / 2 if strength < 1 else None
