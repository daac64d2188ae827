"""Runs claims, one by one or side by side, and reuses verdicts that nothing has changed since."""

import contextlib
import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from paritylab import proofs
from paritylab._support.checks import whole
from paritylab.claims.engine.recorded import budget, recorded
from paritylab.claims.engine.registry import Claim, load_claim, reason_of, registry
from paritylab.claims.engine.reuse import CLAIMS, files_of_claim, files_of_own_claim, verdict_key
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
from paritylab.execution.provenance import changed_flags, device, occasion, versions
from paritylab.execution.store import Store
from paritylab.options import check_ids

Row = dict[str, Any]
#: Seeds that jax tells apart; it is not loaded to check one.
MOST_SEEDS = 2**32
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
        object.__setattr__(self, "seed", whole("a seed", self.seed, 0, MOST_SEEDS - 1))

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

    claims: ids of the lab's claims, claims of the lab or of a file, or one of these; a wrong id is
    refused at once, before the first verdict is asked for. A stored verdict is reused, and comes
    first, if everything that it rests on is the same (`claims.engine.reuse`), unless `fresh`; no
    claim is loaded for it. Claims of a file without `reads` are neither stored nor reused. A claim
    that raises becomes a row with the status failed, which is not stored. jobs: worker processes
    for the lab's own claims.
    """
    requested = [claims] if isinstance(claims, str | Claim) else list(claims)
    unknown = {each for each in requested if isinstance(each, str)} - recorded().keys()
    if unknown:
        check_ids(sorted(unknown), registry(), "no claim", "paritylab.registry() has them all")
    by_id = {each if isinstance(each, str) else each.id: each for each in requested}
    trial = Trial(Effort(effort), seed, on_progress)
    return _verdicts(by_id, trial, store, fresh=fresh, jobs=jobs, on_start=on_start)


def _verdicts(
    claims: Mapping[str, str | Claim],
    trial: Trial,
    store: Store | None,
    *,
    fresh: bool,
    jobs: int,
    on_start: Callable[[Claim], None],
) -> Iterator[Verdict]:
    """Stored verdicts first, then those of the claims that have none."""
    missing: dict[str, str | Claim] = {}
    # All keys before any work: what is loaded now is what runs, whatever is edited meanwhile.
    keys = {} if store is None else {id: key_of(each, trial) for id, each in claims.items()}
    for id, each in claims.items():
        key = keys.get(id)
        row = store.verdict(key) if store is not None and key and not fresh else None
        if row is None:
            missing[id] = each
        else:
            yield Verdict({**row, "expected": plain(_expected(each, trial.effort))}, True)
    for row in _rows(missing, trial, jobs, on_start):
        key = keys.get(row["id"])
        if store is not None and key and row["status"] != Status.FAILED:
            store.save_verdict(key, row)
        yield Verdict(row)


def key_of(claim: str | Claim, trial: Trial) -> str | None:
    """The key under which a verdict is stored, None if it is not to be.

    claim: an id of the lab's list, for which nothing is loaded, or a claim.
    """
    id = claim if isinstance(claim, str) else claim.id
    if isinstance(claim, str):
        listed = recorded().get(id)
        module = CLAIMS.joinpath(*(listed.module if listed else "").split(".")).with_suffix(".py")
        files = files_of_claim(id, module if module.is_file() else load_claim(id).file)
    elif claim.is_built_in:
        files = files_of_claim(id, claim.file)
    else:
        files = files_of_own_claim(claim.file, claim.reads)
    return verdict_key(id, trial.effort.value, trial.seed, files) if files else None


def _expected(claim: str | Claim, effort: Effort) -> Status | None:
    """The recorded status."""
    if isinstance(claim, Claim):
        return claim.expected_at(effort)
    listed = recorded().get(claim)
    return None if listed is None else listed.expected_at(effort)


def _rows(
    claims: Mapping[str, str | Claim],
    trial: Trial,
    jobs: int,
    on_start: Callable[[Claim], None],
) -> Iterator[Row]:
    """One by one here, or side by side in worker processes, which load the claims themselves."""
    if jobs == 1 or not all(isinstance(each, str) or each.is_built_in for each in claims.values()):
        for each in claims.values():
            claim = _loaded(each)
            on_start(claim)
            yield run_claim(claim, trial)
        return
    work = partial(_row_by_id, effort=trial.effort.value, seed=trial.seed)
    for id, value, seconds in processes(jobs)(work, _in_turn_of_cost(claims, trial)):
        if isinstance(value, Failure):
            yield _failed(_loaded(claims[id]), value.reason, _how(trial, seconds))
        else:
            yield value


def _loaded(claim: str | Claim) -> Claim:
    return load_claim(claim) if isinstance(claim, str) else claim


def _in_turn_of_cost(ids: Iterable[str], trial: Trial) -> list[str]:
    """A few cheap claims, so that verdicts show at once, then the longest first, so that none of
    them is left for the end."""
    by_cost = sorted(ids, key=lambda id: budget(id, trial.effort))
    return [*by_cost[:SHOWN_AT_ONCE], *reversed(by_cost[SHOWN_AT_ONCE:])]


def _row_by_id(id: str, effort: str, seed: int) -> Row:
    """In a worker, which gets no claim but its id."""
    return run_claim(load_claim(id), Trial(Effort(effort), seed))


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
    return {
        **facts,
        "device": device(),
        "versions": {**versions(), **changed_flags(), **occasion()},
    }


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
