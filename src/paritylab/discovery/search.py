"""`discover`: from a table and a target to a rule, or to nothing with its reasons."""

import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from paritylab.discovery.columns import Coding
from paritylab.discovery.genotypes import PAIRS_SHARE, strongest_pair
from paritylab.discovery.notes import Notes
from paritylab.discovery.prepare import Bits, Prepared, Threshold, as_choices, prepare
from paritylab.discovery.reading import open_table, with_labels
from paritylab.discovery.rules import Rule, target_words

if TYPE_CHECKING:
    from paritylab.solvers import Answer
    from paritylab.solvers.form import Finer

Progress = Callable[[float, str], None]
#: Alternatives listed.
_MOST = 50


class Options(TypedDict, total=False):
    """How a table is read and searched; `discover_all` has the defaults."""

    k: int | None
    alpha: float
    budget: float | None
    bits: str | Iterable[str | Bits]
    threshold: Threshold
    missing: str
    method: str
    key: int
    progress: Progress | None
    rows: str
    group: str | None


@overload
def discover(table: Any, target: str, **options: Unpack[Options]) -> Rule: ...
@overload
def discover(
    table: Any, target: list[str] | tuple[str, ...], **options: Unpack[Options]
) -> list[Rule]: ...
@overload
def discover(table: Any, target: Any, **options: Unpack[Options]) -> Rule: ...
def discover(table: Any, target: Any, **options: Unpack[Options]) -> Rule | list[Rule]:
    """Is there a small set of columns whose parity gives the target? One `Rule` per target.

    table: a path (CSV, TSV, NPZ, Parquet), a mapping from names to columns, or a data frame.
    target: a column, or a list of them; or, with a frame or an array (N, n), dense or sparse, the
    labels themselves, (N,). Options: k (size of the set), alpha (0.01), budget (seconds, 30 if
    absent), bits ("address:25-6"), threshold (a number, or numbers by column), missing ("refuse" or
    "drop"), method, key, progress (called with the share done and a text), rows ("check": look
    whether rows depend on each other, "independent": take them as they are), group (a column; rows
    with the same value there depend on each other).

    >>> rows = {"a": [0, 1, 0, 1] * 20, "b": [0, 0, 1, 1] * 20, "y": [0, 1, 1, 0] * 20}
    >>> rule = discover(rows, "y")
    >>> rule.statement
    'y is 1 exactly when an odd number of {a, b} are true'
    >>> rule.apply({"a": [1], "b": [0]}).tolist()
    ['1']
    >>> X = np.random.default_rng(0).integers(0, 2, (100, 8))
    >>> discover(X, X[:, 2] ^ X[:, 5]).columns
    ('x2', 'x5')
    """
    if isinstance(target, str):
        return discover_all(table, [target], **options)[0][0]
    if all(isinstance(each, str) for each in target) and not hasattr(target, "dtype"):
        return discover_all(table, list(target), **options)[0]
    columns, name = with_labels(table, target)
    return discover_all(columns, [name], **options)[0][0]


def discover_all(
    table: Any,
    targets: Sequence[str],
    *,
    k: int | None = None,
    alpha: float = 0.01,
    budget: float | None = None,
    bits: str | Iterable[str | Bits] = (),
    threshold: Threshold = None,
    missing: str = "refuse",
    method: str = "auto",
    key: int = 0,
    progress: Progress | None = None,
    rows: str = "check",
    group: str | None = None,
) -> tuple[list[Rule], Notes]:
    """Rules for several targets of one table, read once, and notes on its columns."""
    from paritylab.solvers import solve

    check_numbers(k, alpha, budget)
    choices = as_choices(bits, threshold, missing)._replace(group=group)
    with open_table(table) as opened:
        prepared = prepare(opened, targets, choices)
    if k is not None and k > len(prepared.codings):
        raise ValueError(
            f"k must be at most the number of usable columns, {len(prepared.codings)}, got {k}"
        )
    end = None if budget is None else time.monotonic() + budget
    rules, level = [], alpha
    if prepared.genotypes is not None:
        level = alpha * (1 - PAIRS_SHARE)
    for at, (coding, target) in enumerate(prepared.targets):
        left = None if end is None else max(end - time.monotonic(), 1e-3)
        answer = solve(
            prepared.bits,
            (1 - 2 * target.astype(np.int8)).astype(np.int8),
            k=k,
            method=method,
            alpha=level,
            budget=None if left is None else left / (len(targets) - at),
            key=key,
            progress=_part_of(progress, at, len(targets)),
            rows=rows,
            groups=prepared.groups,
            finer=_finer(prepared),
        )
        rules.append(_rule(prepared, coding, target, answer))
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


def _finer(prepared: Prepared) -> "Finer | None":
    """Other cuts of the columns of numbers that are used."""
    from paritylab.solvers.form import Finer

    cut = [
        (at, prepared.finer[coding.name])
        for at, coding in enumerate(prepared.codings)
        if coding.name in prepared.finer
    ]
    if not cut:
        return None
    owners = np.repeat([at for at, _ in cut], [bits.shape[1] for _, bits in cut])
    return Finer(np.concatenate([bits for _, bits in cut], axis=1), owners)


def _rule(prepared: Prepared, coding: Coding, target: np.ndarray, answer: "Answer") -> Rule:
    evidence, odd = _evidence(answer, prepared, coding), answer.sign > 0
    _add_pair(evidence, prepared, target)
    if answer.subset is None or answer.abstained:
        return Rule(coding, (), odd, evidence)
    evidence["profile"] = _profile(prepared.bits[:, list(answer.subset)], target)
    return Rule(coding, tuple(prepared.codings[at] for at in answer.subset), odd, evidence)


def _add_pair(evidence: dict[str, Any], prepared: Prepared, target: np.ndarray) -> None:
    """The pair of columns of 0, 1, 2 on whose nine cells the target depends, if one does.

    The test is for independent rows; where they were found to depend on each other it says nothing.
    """
    from paritylab.solvers.conclusion import Outcome

    if prepared.genotypes is None or Outcome.from_json(evidence["outcome"]).rows.why:
        return
    pair = strongest_pair(prepared.genotypes.values, target)
    level = evidence["alpha"] * PAIRS_SHARE / (1 - PAIRS_SHARE)
    if pair is not None and pair.log_p <= math.log(level):
        evidence["pair"] = pair.to_json(prepared.genotypes.names)


def _evidence(answer: "Answer", prepared: Prepared, coding: Coding) -> dict[str, Any]:
    """What is known of the answer, ready for JSON."""
    names = [each.name for each in prepared.codings]
    phrases = [each.phrase for each in prepared.codings]
    facts: dict[str, Any] = {
        "conclusion": str(answer.conclusion),
        "rows": answer.rows,
        "fitting": answer.best.fitting,
        "agreement": answer.agreement,
        "noise_rate": answer.noise_rate,
        "noise_interval": list(answer.noise_interval),
        "p_value": answer.p_value,
        "alpha": answer.search.alpha,
        "outcome": answer.outcome(phrases, target_words(coding)).to_json(),
        "alternatives": [],
        "rows_needed": answer.rows_needed,
        "search": answer.search.to_json(),
    }
    if answer.subset is not None:
        others = [[names[at] for at in each] for each in answer.equivalents[:_MOST]]
        mine = [names[at] for at in answer.subset]
        facts["alternatives"] = others + _swapped([mine, *others], prepared.notes)
        facts["outcome"]["same"] = facts["alternatives"]
    return facts


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
