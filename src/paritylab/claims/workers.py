"""Claims side by side in worker processes: most of a short claim is compiling, on one core."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from paritylab.claims.registry import Claim
from paritylab.claims.verdict import Effort


def usual_jobs(claims: int) -> int:
    """One process per core, up to four, on the CPU; one in all on an accelerator."""
    from paritylab.sweep.provenance import device

    if claims < 2 or not device().lower().startswith("cpu"):
        return 1
    return max(1, min(os.cpu_count() or 1, claims, 4))


def rows_from_workers(
    claims: list[Claim], effort: Effort, seed: int, jobs: int
) -> Iterator[dict[str, Any]]:
    """Rows of built-in claims as they finish, the longest started first."""
    ordered = sorted(claims, key=lambda claim: -claim.budget(effort))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore_interrupt)
    try:
        futures = [pool.submit(_row_of, claim.id, effort.value, seed) for claim in ordered]
        for future in as_completed(futures):
            yield future.result()
    finally:
        # Workers ignore Ctrl-C, so whoever leaves early has to end them.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _row_of(id: str, effort: str, seed: int) -> dict[str, Any]:
    from paritylab.claims.engine import Trial, run_claim
    from paritylab.claims.registry import registry

    return run_claim(registry()[id], Trial(Effort(effort), seed))
