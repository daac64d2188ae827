"""`discover`: from a table and a target to a rule, or to nothing with its reasons."""

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from xorfind.answer import Answer
from xorfind.rule import Rule, Share, target_words
from xorfind.solvers.solving import check_search, solve
from xorfind.statistics import Rate
from xorfind.table.columns import Coding
from xorfind.table.prepare import Notes, Prepared, Threshold, as_choices, prepare
from xorfind.table.reading import read_table, with_labels
from xorfind.text import statement

Progress = Callable[[float, str], None]
#: Alternatives listed.
_MOST = 50


@overload
def discover(table: Any, target: str, **options: Any) -> Rule: ...
@overload
def discover(table: Any, target: list[str] | tuple[str, ...], **options: Any) -> list[Rule]: ...
@overload
def discover(table: Any, target: Any, **options: Any) -> Rule: ...
def discover(table: Any, target: Any, **options: Any) -> Rule | list[Rule]:
    """Is there a small set of columns whose parity gives the target? One `Rule` per target.

    table: a path (CSV, TSV, Parquet), a mapping from names to columns, or a data frame.
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
    labelled, name = with_labels(table, target)
    return discover_all(labelled, [name], **options)[0][0]


def discover_all(
    table: Any,
    targets: Sequence[str],
    *,
    k: int | None = None,
    alpha: float = 0.01,
    budget: float | None = None,
    bits: str | Iterable[str] = (),
    threshold: Threshold = None,
    missing: str = "refuse",
    method: str = "auto",
    key: int = 0,
    progress: Progress | None = None,
    rows: str = "check",
    group: str | None = None,
) -> tuple[list[Rule], Notes]:
    """Rules for several targets of one table, read once, and notes on its columns."""
    check_search(method, alpha, budget, k)
    prepared = prepare(read_table(table), targets, as_choices(bits, threshold, missing, group))
    end = None if budget is None else time.monotonic() + budget
    rules = []
    for at, (coding, target) in enumerate(prepared.targets):
        left = None if end is None else max(end - time.monotonic(), 1e-3)
        answer = solve(
            prepared.bits,
            target,
            k=k,
            method=method,
            alpha=alpha,
            budget=None if left is None else left / (len(targets) - at),
            key=key,
            progress=_part_of(progress, at, len(targets)),
            rows=rows,
            groups=prepared.groups,
            finer=prepared.finer,
        )
        rules.append(_rule(prepared, coding, target, answer))
    return rules, prepared.notes


def _part_of(progress: Progress | None, at: int, targets: int) -> Progress | None:
    if progress is None:
        return None
    return lambda share, text: progress((at + share) / targets, text)


def _rule(prepared: Prepared, coding: Coding, target: np.ndarray, answer: Answer) -> Rule:
    """The rule of one target: the answer with names instead of numbers."""
    codings, odd = prepared.codings, answer.sign > 0
    named = answer.named(lambda at: codings[at].phrase, target_words(coding))
    if answer.subset is not None:
        named = replace(named, equivalents=_alternatives(answer, codings, prepared.notes))
    if answer.subset is None or answer.abstained:
        return Rule(coding, (), odd, statement(named), named)
    terms = tuple(codings[at] for at in answer.subset)
    profile = _profile(prepared.bits[:, list(answer.subset)], target)
    return Rule(coding, terms, odd, statement(named), named, profile)


def _alternatives(
    answer: Answer, codings: list[Coding], notes: Notes
) -> tuple[tuple[str, ...], ...]:
    """Sets that say the same on every row; also with columns replaced by their twins."""
    assert answer.subset is not None
    named = [
        tuple(codings[at].name for at in each)
        for each in (answer.subset, *answer.equivalents[:_MOST])
    ]
    made: list[tuple[str, ...]] = []
    for subset in named:
        choices = [[name, *(other for other, _ in notes.twins.get(name, []))] for name in subset]
        made += itertools.islice(itertools.product(*choices), 1, _MOST + 1 - len(made))
    return (*named[1:], *made)


def _profile(bits: np.ndarray, target: np.ndarray) -> tuple[Share, ...]:
    """Rows and share of true targets by the number of terms that are true."""
    count = bits.sum(axis=1, dtype=np.int64)
    rows, true = np.bincount(count), np.bincount(count, weights=target).astype(int)
    return tuple(
        Share(at, Rate(int(true[at]), int(rows[at]))) for at in np.flatnonzero(rows).tolist()
    )
