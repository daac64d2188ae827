"""Runs claims, one by one or side by side, and reuses verdicts that nothing has changed since."""

import contextlib
import io
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from paritylab import proofs
from paritylab.claims.engine import freshness
from paritylab.claims.engine.registry import Claim, reason_of, registry
from paritylab.claims.engine.verdict import (
    Effort,
    Evidence,
    Judged,
    Status,
    Verdict,
    make_row,
    plain,
)
from paritylab.execution.engines import Failure, processes
from paritylab.execution.provenance import device, imported_beside, occasion, versions
from paritylab.execution.store import Store
from paritylab.options import check_ids
from paritylab.problem.keys import checked_seed

Row = dict[str, Any]
#: In a stored row: the files behind the verdict with their hashes.
FILES = "files"
#: So many cheap claims go before the long ones.
SHOWN_AT_ONCE = 10


@dataclass(frozen=True)
class Trial:
    """What a measurement is given: how hard to try, the seed, and where to report progress."""

    effort: Effort = Effort.DEFAULT
    seed: int = 0
    report: Callable[[float], None] = lambda fraction: None

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", Effort(self.effort))
        object.__setattr__(self, "seed", checked_seed(self.seed))

    def track(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, reporting the share that is done before each one."""
        items = list(items)
        for done, item in enumerate(items):
            self.report(done / len(items))
            yield item
        self.report(1.0)


def check(
    claims: str | Claim | Iterable[str | Claim],
    *,
    effort: str | Effort = Effort.DEFAULT,
    seed: int = 0,
    store: Store | None = None,
    fresh: bool = False,
    jobs: int = 1,
    on_start: Callable[[Claim], None] = lambda claim: None,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> Iterator[Verdict]:
    """Verdicts as they are finished, each saved in the store as soon as it exists.

    claims: ids of the registry, claims of the registry or of a file, or one of these; a wrong id
    is refused at once, before the first verdict is asked for. A stored verdict is reused, and comes
    first, if effort, seed, code, versions, precision and device are the same, unless `fresh`. A
    claim that raises becomes a row with the status failed, which is not stored. jobs: worker
    processes for the lab's own claims.
    """
    asked = [claims] if isinstance(claims, str | Claim) else claims
    chosen = [_claim(each) for each in asked]
    trial = Trial(Effort(effort), seed, on_progress)
    return _verdicts(chosen, trial, store, fresh=fresh, jobs=jobs, on_start=on_start)


def _claim(asked: str | Claim) -> Claim:
    if not isinstance(asked, str):
        return asked
    check_ids([asked], registry(), "no claim", "paritylab.registry() has them all")
    return registry()[asked]


def _verdicts(
    claims: Iterable[Claim],
    trial: Trial,
    store: Store | None,
    *,
    fresh: bool,
    jobs: int,
    on_start: Callable[[Claim], None],
) -> Iterator[Verdict]:
    """Stored verdicts first, then those of the claims that have none."""
    missing: dict[str, Claim] = {}
    keys: dict[str, str] = {}
    for claim in claims:
        if store is not None:
            own = None if claim.is_built_in else claim.file
            key = freshness.verdict_key(claim.id, trial.effort.value, trial.seed, own)
            keys[claim.id] = key
            if not fresh and (stored := stored_row(store, key)):
                yield Verdict({**stored, "expected": plain(claim.expected_at(trial.effort))}, True)
                continue
        missing[claim.id] = claim
    # Before the work: what is loaded now is what runs, whatever is edited meanwhile.
    files = {id: dependencies(missing[id]) for id in keys if id in missing}
    for row in _rows(missing, trial, jobs, on_start):
        if store is not None and row["status"] != Status.FAILED:
            store.save_verdict(keys[row["id"]], {**row, FILES: files[row["id"]]})
        yield Verdict(row)


def _rows(
    claims: dict[str, Claim], trial: Trial, jobs: int, on_start: Callable[[Claim], None]
) -> Iterator[Row]:
    """One by one here, or side by side in worker processes."""
    if jobs == 1 or not all(claim.is_built_in for claim in claims.values()):
        for claim in claims.values():
            on_start(claim)
            yield run_claim(claim, trial)
        return
    work = partial(_row_by_id, effort=trial.effort.value, seed=trial.seed)
    for id, value, seconds in processes(jobs)(work, _in_turn_of_cost(claims.values(), trial)):
        if isinstance(value, Failure):
            yield _failed(claims[id], value.reason, _how(trial, seconds))
        else:
            yield value


def stored_row(store: Store, key: str) -> Row | None:
    """A stored verdict, if no file behind it has changed since."""
    stored = store.verdict(key)
    return stored if stored and freshness.is_fresh(stored.pop(FILES, None)) else None


def _in_turn_of_cost(claims: Iterable[Claim], trial: Trial) -> list[str]:
    """A few cheap claims, so that verdicts show at once, then the longest first, so that none of
    them is left for the end."""
    by_cost = [claim.id for claim in sorted(claims, key=lambda claim: claim.budget(trial.effort))]
    return [*by_cost[:SHOWN_AT_ONCE], *reversed(by_cost[SHOWN_AT_ONCE:])]


def _row_by_id(id: str, effort: str, seed: int) -> Row:
    """In a worker, which gets no claim but its id."""
    return run_claim(registry()[id], Trial(Effort(effort), seed))


def run_claim(claim: Claim, trial: Trial) -> Row:
    """The row of one claim; if its code raises, a row with the status failed.

    From default effort on a counterexample has to run, too.
    """
    start = time.perf_counter()
    try:
        judged = claim.run(trial)
        if trial.effort is not Effort.QUICK and judged.counterexample is not None:
            run_counterexample(judged.counterexample)
        return make_row(claim, with_proof(claim, judged), _how(trial, time.perf_counter() - start))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        how = _how(trial, time.perf_counter() - start)
        return _failed(claim, reason_of(error, claim.file), how)


def _failed(claim: Claim, reason: str, how: Row) -> Row:
    """The row of a claim whose code raised; the reason takes the place of the finding."""
    return make_row(claim, Judged(Status.FAILED, reason), how)


def _how(trial: Trial, seconds: float) -> Row:
    """How a row was made, by the row's names."""
    facts = {"effort": trial.effort, "seed": trial.seed, "seconds": round(seconds, 3)}
    return {**facts, "device": device(), "versions": {**versions(), **occasion()}}


def run_counterexample(code: str) -> str:
    """Run a counterexample in a namespace of its own; returns what it prints."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<counterexample>", "exec"), {"__name__": "counterexample"})
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RuntimeError(f"the counterexample fails: {type(error).__name__}: {error}") from error
    return printed.getvalue()


def dependencies(claim: Claim) -> dict[str, str]:
    """Hashes of the files behind a claim: what it imports of the package, and what it reads.

    A user's claim that declares nothing has none and is always run anew.
    """
    if claim.is_built_in:
        proof = [file for id in claim.certificates for file in proofs.files_of(id)]
        shown = [claim.counterexample] if claim.counterexample else []
        return freshness.hashes([*freshness.files_behind(claim.file), *proof, *shown])
    if not claim.reads or not claim.file.is_file():
        return {}
    own = [claim.file.resolve(), *imported_beside(claim.file.resolve())]
    ours = {file for each in own for file in freshness.files_behind(each)}
    return freshness.hashes([*ours, *(Path(each).absolute() for each in claim.reads)])


def with_proof(claim: Claim, judged: Judged) -> Judged:
    """The same verdict, with evidence `proved` if the claim's certificates settle this status.

    Without python-flint, or if the measurement came to another verdict than the proof, the
    evidence stays what the record says.
    """
    ids = claim.certificates
    if not ids or not all(proofs.verified(id) and proofs.settles(id, judged.status) for id in ids):
        return judged
    shown = "; ".join(what_is_proved(id) for id in ids)
    return replace(judged, evidence=Evidence.PROVED, proof=shown)


def what_is_proved(id: str) -> str:
    """What a certificate shows, with its setting; for a long proof also when it was verified."""
    said = proofs.provenance(id)
    return f"{proofs.title(id)} ({said})" if said else proofs.title(id)
