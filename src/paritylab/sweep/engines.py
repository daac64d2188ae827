"""Engines: one way to map a function over tasks, here, on all cores, or on a dask cluster.

An engine takes a function and tasks and yields `Done(task, value, seconds)` for each task, in any
order. A task whose function raises, or whose process dies again and again, comes back with a
`Failure` for a value and the rest goes on. Tasks are taken from their iterable only when there is
room for them, so an iterable may decide late what is still worth doing. Beyond `serial`, function,
tasks and values must pickle. Leaving the loop early, by `break` or Ctrl-C, ends the workers.

>>> [(done.task, done.value) for done in serial()(abs, [-2, 3])]
[(-2, 2), (3, 3)]
"""

import contextlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

#: Deaths of a worker that a task is forgiven; the last trial is by itself, so that a task that
#: kills its worker cannot take others along for ever.
FORGIVEN = 2
#: Tasks in flight for each worker: one at work and one waiting.
AHEAD = 2
#: Seconds to reach a scheduler, and so many times as long a local one may be without any worker.
PATIENCE, GIVEN_UP = 8, 4


class Failure(NamedTuple):
    """Why a task has no value. reason: one line. details: the traceback, where there is one."""

    reason: str
    details: str = ""


class Done(NamedTuple, Generic[_T, _R]):
    """A finished task; value is what the function returned, or a `Failure`."""

    task: _T
    value: _R
    seconds: float


class ClusterError(ValueError):
    """The cluster cannot be used or was lost; the message says why and what to do."""


class Engine(Protocol):
    """Maps a function over tasks."""

    def __call__(
        self, function: Callable[[_T], _R], tasks: Iterable[_T]
    ) -> Iterator[Done[_T, _R | Failure]]: ...


def serial() -> Engine:
    """One task after another in this process: the reference."""
    return _serial


def processes(jobs: int) -> Engine:
    """`jobs` worker processes on this machine (loky's, which joblib brings)."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")

    def engine(function: Callable[[_T], _R], tasks: Iterable[_T]) -> Iterator[Done[_T, Any]]:
        return _over_futures(lambda: _LocalPool(jobs), function, tasks)

    return engine


def cluster(
    where: str = "local", jobs: int = 2, *, say: Callable[[str], None] = lambda message: None
) -> Engine:
    """Workers of a dask cluster.

    where: "local" starts `jobs` workers on this machine that listen on loopback only; an address
    such as tcp://host:8786 names a scheduler, which has to answer. A scheduler runs whatever it is
    sent by anyone who can reach it. say: receives a remark worth showing.
    """
    import importlib.util

    if importlib.util.find_spec("distributed") is None:
        raise ClusterError("--engine dask needs dask: pip install 'paritylab[cluster]'")
    if where != "local":
        _DaskPool(where, jobs, say).close()  # an unreachable scheduler is refused now, not then

    def engine(function: Callable[[_T], _R], tasks: Iterable[_T]) -> Iterator[Done[_T, Any]]:
        return _over_futures(lambda: _DaskPool(where, jobs, say), function, tasks)

    return engine


def usual_jobs(tasks: int) -> int:
    """One process per core, up to four, on the CPU; one in all on an accelerator."""
    from paritylab.sweep.provenance import device

    if tasks < 2 or not device().lower().startswith("cpu"):
        return 1
    return max(1, min(os.cpu_count() or 1, tasks, 4))


def _serial(function: Callable[[_T], _R], tasks: Iterable[_T]) -> Iterator[Done[_T, _R | Failure]]:
    for task in tasks:
        yield Done(task, *timed(function, task))


def timed(function: Callable[[_T], _R], task: _T) -> tuple[_R | Failure, float]:
    """The function's value, or its `Failure`, and the seconds it took."""
    start = time.perf_counter()
    try:
        value: _R | Failure = function(task)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        value = Failure(reason, "".join(traceback.format_exception(error)))
    return value, time.perf_counter() - start


def _over_futures(
    pool_of: Callable[[], "_LocalPool | _DaskPool"],
    function: Callable[[_T], _R],
    tasks: Iterable[_T],
) -> Iterator[Done[_T, _R | Failure]]:
    """Keep a pool busy with a few tasks per worker; after a death begin again with what is left.

    A pool that lost a worker cannot say which of its tasks killed it. All that were in flight get
    another chance, and from the last one on each runs by itself in a pool of its own.
    """
    waiting = iter(tasks)
    left: list[tuple[_T, int]] = []  # tasks to try again, with the deaths they were there for
    running: dict[Future[Any], tuple[_T, int]] = {}
    pool: _LocalPool | _DaskPool | None = None
    try:
        while True:
            alone = bool(left) and left[0][1] >= FORGIVEN
            while not running or (pool and not alone and len(running) < pool.room):
                turn = left.pop(0) if left else next(((task, 0) for task in waiting), None)
                if turn is None:
                    break
                pool = pool or pool_of()
                running[pool.submit(function, turn[0])] = turn
            if pool is None or not running:
                return
            for future in pool.wait(running):
                task, deaths = running.pop(future)
                try:
                    value, seconds = future.result(PATIENCE)
                except TimeoutError:  # its value was lost with its worker and is made again
                    running[future] = (task, deaths)
                    continue
                except pool.deaths as error:
                    there = [(task, deaths + 1), *((t, d + 1) for t, d in running.values())]
                    if deaths >= FORGIVEN:
                        there.pop(0)
                        ending = " ".join(str(error).split())[:120] or type(error).__name__
                        yield Done(task, Failure(f"its process died ({ending})"), 0.0)
                    left = sorted([*left, *there], key=lambda each: each[1])
                    running.clear()
                    pool.close()
                    pool = None
                    break
                except Exception as error:  # the task or its value does not pickle
                    reason = " ".join(f"{type(error).__name__}: {error}".split())
                    value, seconds = Failure(reason), 0.0
                yield Done(task, value, seconds)
    finally:
        if pool is not None:
            pool.close()


def _begin(driver: int) -> None:
    """The start of a worker: Ctrl-C is for the driver to decide on, and its death ends the worker.

    loky's own workers would finish the task they have, which may take hours.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_driver() -> None:
        while os.getppid() == driver:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=end_with_driver, daemon=True).start()


class _LocalPool:
    """Processes of loky, which end with their driver and notice each other's deaths."""

    def __init__(self, jobs: int) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self._pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=(os.getpid(),))
        self.room = AHEAD * jobs
        self.deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def submit(self, function: Callable[[_T], _R], task: _T) -> "Future[Any]":
        return self._pool.submit(timed, function, task)  # type: ignore[no-any-return]

    def wait(self, running: Iterable["Future[Any]"]) -> Iterable["Future[Any]"]:
        return wait(list(running), return_when=FIRST_COMPLETED).done

    def close(self) -> None:
        self._pool.shutdown(wait=True, kill_workers=True)


def _local_cluster(jobs: int) -> Any:
    """A scheduler and its workers on loopback; started anew if a worker dies while starting."""
    import logging

    import dask
    from distributed import LocalCluster

    for trial in range(FORGIVEN + 1):
        try:
            with dask.config.set({"distributed.scheduler.allowed-failures": FORGIVEN}):
                return LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # no fixed port
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError:
            if trial == FORGIVEN:
                raise ClusterError("workers died while starting; run the command again") from None
    return None


class _DaskPool:
    """Workers of a dask scheduler; dask itself gives the tasks of a dead worker to another one."""

    def __init__(self, where: str, jobs: int, say: Callable[[str], None]) -> None:
        import logging

        from distributed import Client, KilledWorker

        # dask's remarks on dead workers and lost connections are the engine's to make
        for name in ("distributed", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._local, self._where = _local_cluster(jobs) if where == "local" else None, where
        try:
            self._client = Client(self._local or where, timeout=PATIENCE, set_as_default=False)
        except Exception as error:  # dask raises what its parts raise
            reason = " ".join(str(error).split()) or "no answer"
            raise ClusterError(f"no dask scheduler answers at {where}: {reason}") from None
        if where != "local" and not self._client.nthreads():
            say(f"{where} has no workers yet; waiting for one (Ctrl-C ends this)")
        self.room = AHEAD * max(1, len(self._client.nthreads()))
        # a worker that dies may take finished values along, which dask calls cancelled
        self.deaths: tuple[type[BaseException], ...] = (KilledWorker, CancelledError)

    def submit(self, function: Callable[[_T], _R], task: _T) -> "Future[Any]":
        submitted: Any = self._client.submit(timed, function, task, pure=False)
        future: Future[Any] = submitted
        return future

    def wait(self, running: Iterable["Future[Any]"]) -> Iterable["Future[Any]"]:
        from distributed import wait as wait_for

        futures, alone = list(running), 0
        done: Any = None
        while done is None and self._client.status == "running":
            try:
                with self._client.as_current():
                    done = wait_for(futures, PATIENCE, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                # dask starts a dead worker anew, but gives up if that one dies while starting
                alone = 0 if self._local is None or self._client.nthreads() else alone + 1
                if alone == GIVEN_UP:
                    self._client.cancel(futures)
                    done = futures
        if self._client.status != "running":
            raise ClusterError(
                f"the scheduler at {self._where} was lost; finished work is saved, run the same "
                "command again to go on"
            )
        found: Iterable[Future[Any]] = done
        return found

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=PATIENCE)
        if self._local is not None:
            for nanny in self._local.workers.values():  # at once, whatever they are computing
                nanny.auto_restart = False
                with contextlib.suppress(OSError, TypeError):
                    os.kill(nanny.pid, signal.SIGKILL)
            with contextlib.suppress(Exception):
                self._local.close(timeout=PATIENCE)
