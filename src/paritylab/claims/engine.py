"""Runs claims one after another and reuses verdicts that nothing has changed since."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from paritylab.claims.registry import Claim
from paritylab.claims.verdict import Effort, Finding, Provenance, Verdict, make_row
from paritylab.claims.workers import rows_from_workers
from paritylab.sweep.provenance import device, versions
from paritylab.sweep.store import Store


class ClaimError(ValueError):
    """A claim's own code failed; the message names the claim."""


@dataclass(frozen=True)
class Trial:
    """What a claim function is given: how hard to try, the seed, and where to report progress."""

    effort: Effort = Effort.DEFAULT
    seed: int = 0
    report: Callable[[float], None] = lambda fraction: None

    def pick(self, *, quick: Any, default: Any, full: Any) -> Any:
        """The setting for this trial's effort."""
        return {Effort.QUICK: quick, Effort.DEFAULT: default, Effort.FULL: full}[self.effort]

    def track(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, reporting the share that is done before each one."""
        items = list(items)
        for done, item in enumerate(items):
            self.report(done / len(items))
            yield item
        self.report(1.0)


def check(
    claims: Iterable[Claim],
    *,
    effort: str | Effort = Effort.DEFAULT,
    seed: int = 0,
    store: Store | None = None,
    fresh: bool = False,
    jobs: int = 1,
    on_start: Callable[[Claim], None] = lambda claim: None,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> Iterator[Verdict]:
    """Verdicts one by one, each saved in the store as soon as it exists.

    A stored verdict is reused if effort, seed, code, versions and device are the same,
    unless `fresh`. jobs: worker processes for the lab's own claims; with more than one, verdicts
    come in the order in which they are finished.
    """
    effort, claims = Effort(effort), list(claims)
    if jobs > 1 and all(claim.is_built_in for claim in claims):
        yield from _check_side_by_side(claims, effort, seed, store, fresh, jobs)
        return
    for claim in claims:
        key = verdict_key(claim, effort, seed)
        stored = None if fresh or store is None else store.verdict(key)
        if stored is not None:
            yield Verdict(stored, reused=True)
            continue
        on_start(claim)
        row = run_claim(claim, Trial(effort, seed, on_progress))
        if store is not None:
            store.save_verdict(key, row)
        yield Verdict(row)


def _check_side_by_side(claims, effort, seed, store, fresh, jobs) -> Iterator[Verdict]:
    keys = {claim.id: verdict_key(claim, effort, seed) for claim in claims}
    missing = []
    for claim in claims:
        stored = None if fresh or store is None else store.verdict(keys[claim.id])
        if stored is None:
            missing.append(claim)
        else:
            yield Verdict(stored, reused=True)
    if not missing:
        return
    for row in rows_from_workers(missing, effort, seed, min(jobs, len(missing))):
        if store is not None:
            store.save_verdict(keys[row["id"]], row)
        yield Verdict(row)


def run_claim(claim: Claim, trial: Trial) -> dict[str, Any]:
    """The row of one claim."""
    start = time.perf_counter()
    try:
        finding = claim.run(trial)
    except Exception as error:
        raise ClaimError(f"claim {claim.id} failed: {type(error).__name__}: {error}") from error
    if not isinstance(finding, Finding):
        raise ClaimError(f"claim {claim.id} must return a Finding, got {type(finding).__name__}")
    seconds = time.perf_counter() - start
    provenance = Provenance(trial.seed, trial.effort, round(seconds, 3), device(), versions())
    return make_row(claim, finding, provenance)


def verdict_key(claim: Claim, effort: Effort, seed: int) -> str:
    """Names everything a verdict depends on."""
    parts = [
        claim.id,
        claim.statement,
        claim.expected_at(effort).value,
        effort.value,
        seed,
        code_fingerprint(),
        _source(claim),
        versions(),
        device(),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _source(claim: Claim) -> str:
    """What stands for a user's code in the key; the lab's own files are in the fingerprint."""
    if claim.is_built_in:
        return ""
    path = Path(claim.run.__code__.co_filename)
    # A claim typed into a notebook or console has no file: its compiled code must do.
    return path.read_text(errors="replace") if path.is_file() else claim.run.__code__.co_code.hex()


@cache
def code_fingerprint() -> str:
    """Hash of the package's code, less the parts that only show results."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        if relative.parts[0] not in ("report", "cli"):
            digest.update(str(relative).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
