"""Engines: one way to map a function over tasks, here, on all cores, or on a dask cluster.

An engine takes a function and tasks and yields `Done(task, value, seconds)` for each task, in any
order. A task whose function raises, or whose process dies again and again, comes back with a
`Failure` for a value and the rest goes on. Tasks are taken from their iterable only when there is
room for them, so an iterable may decide late what is still worth doing. Beyond `serial`, function,
tasks and values must pickle. Leaving the loop early, by `break` or Ctrl-C, ends the workers.

>>> [(done.task, done.value) for done in serial()(abs, [-2, 3])]
[(-2, 2), (3, 3)]

joblib's own `Parallel` is not used: it gives up all tasks when a worker dies, and takes the next
task in a thread of its own, where a task iterable that asks a sqlite store cannot run.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
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
    """Why a task has no value, in one line."""

    reason: str


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

    def engine(function: Callable[[_T], _R], tasks: Iterable[_T]) -> Iterator[Done[_T, Any]]:
        for task in tasks:
            yield Done(task, *_timed(function, task))

    return engine


def processes(jobs: int) -> Engine:
    """`jobs` worker processes on this machine (loky's)."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    return _forgiving(lambda: _LocalPool(jobs))


def cluster(where: str = "local", jobs: int = 2) -> Engine:
    """Workers of a dask cluster.

    where: "local" starts `jobs` workers on this machine that listen on loopback only; an address
    such as tcp://host:8786 names a scheduler, which has to answer. A scheduler runs whatever it is
    sent by anyone who can reach it.
    """
    import importlib.util

    if importlib.util.find_spec("distributed") is None:
        raise ClusterError("--engine dask needs dask: pip install 'paritylab[cluster]'")
    if where != "local":
        _DaskPool(where, jobs).close()  # an unreachable scheduler is refused now, not then
    return _forgiving(lambda: _DaskPool(where, jobs))


def usual_jobs(tasks: int) -> int:
    """One process per core, up to four, on the CPU; one in all on an accelerator."""
    from paritylab.execution.provenance import device

    if tasks < 2 or not device().lower().startswith("cpu"):
        return 1
    return max(1, min(os.cpu_count() or 1, tasks, 4))


def _timed(function: Callable[[_T], _R], task: _T) -> tuple[_R | Failure, float]:
    """The function's value, or its `Failure`, and the seconds it took."""
    start = time.perf_counter()
    try:
        value: _R | Failure = function(task)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        value = _failure(error)
    return value, time.perf_counter() - start


def _failure(error: BaseException) -> Failure:
    return Failure(" ".join(f"{type(error).__name__}: {error}".split()))


def _forgiving(pool_of: "Callable[[], _LocalPool | _DaskPool]") -> Engine:
    """An engine of pools, where a task survives the deaths of its workers.

    A pool that lost a worker cannot say which of its tasks killed it. All that were in flight are
    tried again after the others, and in the last trial each by itself in a pool of its own.
    """

    def engine(function: Callable[[_T], _R], tasks: Iterable[_T]) -> Iterator[Done[_T, Any]]:
        for trial in range(FORGIVEN + 1):
            last, again = trial == FORGIVEN, list[_T]()
            for group in ([task] for task in tasks) if last else [tasks]:
                waiting = iter(group)
                while in_flight := (yield from _until_a_death(pool_of, function, waiting)):
                    again += in_flight
            tasks = again
        for task in again:
            yield Done(task, Failure(f"its process died {FORGIVEN + 1} times"), 0.0)

    return engine


def _until_a_death(
    pool_of: "Callable[[], _LocalPool | _DaskPool]",
    function: Callable[[_T], _R],
    waiting: Iterator[_T],
) -> Generator[Done[_T, _R | Failure], None, list[_T]]:
    """Keep a pool busy with a few tasks per worker until all are done or a worker has died.

    Returns the tasks that were in flight then. The pool is made for the first task, if there is
    one.
    """
    running: dict[Future[Any], _T] = {}
    pool: _LocalPool | _DaskPool | None = None
    try:
        while True:
            for task in waiting:
                pool = pool or pool_of()
                try:
                    running[pool.submit(_timed, function, task)] = task
                except pool.deaths:
                    return [task, *running.values()]
                if len(running) == pool.room:
                    break
            if pool is None or not running:
                return []
            for future in pool.wait(running):
                try:
                    value, seconds = future.result(PATIENCE)
                except TimeoutError:  # its value was lost with its worker and is made again
                    continue
                except pool.deaths:
                    return list(running.values())
                except Exception as error:  # the task or its value does not pickle
                    value, seconds = _failure(error), 0.0
                yield Done(running.pop(future), value, seconds)
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

    deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, jobs: int) -> None:
        from loky import ProcessPoolExecutor

        pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=(os.getpid(),))
        self.room, self.submit = AHEAD * jobs, pool.submit
        self.close = lambda: pool.shutdown(wait=True, kill_workers=True)

    def wait(self, running: Iterable[Any]) -> Iterable[Any]:
        return wait(list(running), return_when=FIRST_COMPLETED).done


class _DaskPool:
    """Workers of a dask scheduler; dask itself gives the tasks of a dead worker to another one."""

    def __init__(self, where: str, jobs: int) -> None:
        from distributed import Client, KilledWorker

        self._environment = {name: os.environ.get(name) for name in _WORKERS}
        self._local, self._where = _local_cluster(jobs) if where == "local" else None, where
        try:
            self._client = Client(self._local or where, timeout=PATIENCE, set_as_default=False)
        except Exception as error:  # dask raises what its parts raise
            reason = " ".join(str(error).split()) or "no answer"
            raise ClusterError(f"no dask scheduler answers at {where}: {reason}") from None
        self.room = AHEAD * max(1, len(self._client.nthreads()))
        # a worker that dies may take finished values along, which dask calls cancelled
        self.deaths: tuple[type[BaseException], ...] = (KilledWorker, CancelledError)

    def submit(self, *call: Any) -> Any:
        return self._client.submit(*call, pure=False)

    def wait(self, running: Iterable[Any]) -> Iterable[Any]:
        from distributed import wait as wait_for

        futures, alone = list(running), 0
        while self._client.status == "running":
            try:
                with self._client.as_current():
                    return set(wait_for(futures, PATIENCE, "FIRST_COMPLETED").done)
            except TimeoutError:
                # dask starts a dead worker anew, but gives up if that one dies while starting
                alone = 0 if self._local is None or self._client.nthreads() else alone + 1
                if alone == GIVEN_UP:
                    self._client.cancel(futures)
                    return futures
        raise ClusterError(
            f"the scheduler at {self._where} was lost; finished work is saved, run the same "
            "command again to go on"
        )

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
        for name, value in self._environment.items():  # dask sets them here to hand them on
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


#: Variables of a local cluster's worker processes, which are ours: what they would say of each
#: other's deaths, the engine says in one line.
_WORKERS = {"DASK_LOGGING__DISTRIBUTED": "critical", "DASK_LOGGING__ASYNCIO": "critical"}
#: dask's settings of a local cluster.
_LOCAL = {
    "distributed.scheduler.allowed-failures": FORGIVEN,
    **{f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in _WORKERS.items()},
}


def _local_cluster(jobs: int) -> Any:
    """A scheduler and its workers on loopback."""
    import dask
    from distributed import LocalCluster

    try:
        with dask.config.set(_LOCAL):
            return LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # no fixed port
                memory_limit=0,
                silence_logs=False,
            )
    except RuntimeError:
        raise ClusterError("workers died while starting; run the command again") from None
