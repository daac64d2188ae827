"""A dask cluster as an engine: workers on this machine, or those of a scheduler elsewhere.

The driver hands out a few tasks per worker at a time, quick ones in bundles, and alone keeps what
comes back. dask gives the tasks of a dead worker to another one; tasks in whose company workers die
again and again are run once more by themselves, and fail only if they take their worker along then,
too. A worker answers
only if its code and versions are the driver's.
"""

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from paritylab.sweep.engines import Done, Engine, Failure, quiet_starts, timed

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, Worker, as_completed

_T = TypeVar("_T")
_R = TypeVar("_R")

#: Bundles of tasks in flight for each worker: one at work and one waiting.
AHEAD = 2
#: Seconds that a bundle of quick tasks takes, about, and how many it has at most: sending one
#: costs milliseconds, whatever is in it.
_BUNDLE, _MOST = 0.25, 64
#: Seconds to reach a scheduler, twice: its port, then its greeting.
PATIENCE = 4
#: Deaths of a worker that a task is forgiven, on a cluster of our own.
_FORGIVEN = 1
#: How often local workers are started before the cluster is given up.
_STARTS = 3
#: Seconds without any local worker after which they are started anew.
_ALONE = 20.0
#: Seconds between two looks at how many workers there are.
_LOOK = 2.0


class ClusterError(ValueError):
    """The cluster cannot be used or was lost; the message says why and what to do."""


def cluster(
    where: str = "local", jobs: int = 2, *, say: Callable[[str], None] = lambda message: None
) -> Engine:
    """Workers of a dask cluster.

    where: "local" starts `jobs` workers on this machine that listen on loopback only; an address
    such as tcp://host:8786 or tls://host:8786 names a scheduler, which has to answer. A scheduler
    runs whatever it is sent by anyone who can reach it. say: receives a remark worth showing.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    _check_installed()
    if where != "local":
        _check_port(where)
    return _Cluster(where, jobs, say)


def here() -> dict[str, str]:
    """What a result computed in this process depends on."""
    from paritylab.sweep.provenance import facts

    return facts()


def dask_setup(worker: "Worker") -> None:
    """Called by dask in a local worker: Ctrl-C is for the driver to decide on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _NoWorkersError(Exception):
    """All local workers are gone, and dask does not replace them."""


class _Other(NamedTuple):
    """The answer of a worker that is not like the driver."""

    facts: dict[str, str]


class _Guarded(NamedTuple, Generic[_T, _R]):
    """A function that runs only where the facts are the driver's."""

    function: Callable[[_T], _R]
    facts: Callable[[], dict[str, str]]
    expected: dict[str, str]

    def __call__(self, tasks: list[_T]) -> list[tuple[_R | Failure, float]] | _Other:
        found = self.facts()
        if found != self.expected:
            return _Other(found)
        return [timed(self.function, task) for task in tasks]


@dataclass(frozen=True)
class _Cluster:
    where: str
    jobs: int
    say: Callable[[str], None]

    def __call__(
        self, function: Callable[[_T], _R], tasks: Iterable[_T]
    ) -> Iterator[Done[_T, _R | Failure]]:
        waiting = iter(tasks)
        try:
            first = next(waiting)
        except StopIteration:
            return  # nothing to do needs no cluster
        more = itertools.chain([first], waiting)
        for _ in range(_STARTS):
            with _quiet(), self._client() as client:
                flow = _Flow(client, _Guarded(function, here, here()), self.where)
                try:
                    flow.greet(self.say)
                    yield from flow.run(more)
                    return
                except _NoWorkersError:
                    more = itertools.chain(flow.unfinished(), more)
        raise _given_up("all of them were gone")

    @contextlib.contextmanager
    def _client(self) -> Iterator["Client"]:
        import dask
        from distributed import Client

        if self.where != "local":
            with _connected(self.where) as client:
                yield client
            return
        with (
            quiet_starts(),
            dask.config.set({"distributed.scheduler.allowed-failures": _FORGIVEN}),
            _started(self.jobs) as local,
            Client(local, set_as_default=False) as client,
        ):
            try:
                yield client
            finally:
                _end_workers(local)


def _started(jobs: int) -> "LocalCluster":
    """Workers on this machine; tried again if one dies on the way up."""
    from distributed import LocalCluster

    for _ in range(_STARTS):
        try:
            return LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
                preload=[__name__],
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # no fixed port either
            )
        except RuntimeError as error:
            reason = " ".join(str(error).split())
    raise _given_up(reason)


def _given_up(reason: str) -> ClusterError:
    return ClusterError(
        f"the local workers died {_STARTS} times ({reason}); "
        "finished work is saved, run the same command again to go on"
    )


def _end_workers(local: "LocalCluster") -> None:
    """At once: dask would let a block that is being computed run for some seconds more."""
    for nanny in local.workers.values():
        nanny.auto_restart = False
        with contextlib.suppress(OSError, TypeError):  # gone already, or about to be started
            os.kill(nanny.pid, signal.SIGKILL)


@dataclass
class _Flow(Generic[_T, _R]):
    """Tasks on their way to the workers of a client and back."""

    client: "Client"
    guarded: _Guarded[_T, _R]
    where: str
    running: dict[object, tuple[list[_T], bool]] = field(default_factory=dict)
    suspects: deque[_T] = field(default_factory=deque)
    bundle: int = 1
    workers: int = 0
    looked: float = float("-inf")
    seen: float = field(default_factory=time.monotonic)

    def greet(self, say: Callable[[str], None]) -> None:
        """Wait for a worker, then refuse workers that cannot give the driver's rows."""
        if not self.client.nthreads():
            if self.where != "local":
                say(f"{self.where} has no workers yet; waiting for one (Ctrl-C ends this)")
            try:
                self.client.wait_for_workers(1, _ALONE if self.where == "local" else None)
            except TimeoutError:
                raise _NoWorkersError from None
        for address, threads in self.client.nthreads().items():
            if threads != 1:
                raise ClusterError(
                    f"the worker {address} runs {threads} blocks at once in one process; "
                    "start workers with --nthreads 1"
                )
        answers = self.client.run(self.guarded.facts, on_error="return")
        for address, found in answers.items():
            if isinstance(found, BaseException):
                reason = " ".join(f"{type(found).__name__}: {found}".split())
                raise ClusterError(
                    f"the worker {address} has another paritylab than this process, or none "
                    f"({reason}); install the same one there"
                )
            self._check_alike(address, found)

    def run(self, more: Iterator[_T]) -> Iterator[Done[_T, _R | Failure]]:
        from distributed import as_completed

        ended = as_completed(loop=self.client.loop, with_results=True, raise_errors=False)
        try:
            while True:
                while len(self.running) < AHEAD * max(1, self._workers()):
                    tasks = list(itertools.islice(more, self.bundle))
                    if not tasks:
                        break
                    self._send(tasks, ended)
                if not self.running and not self.suspects:
                    return
                if not self.running:  # the rest is done: each suspect is tried by itself
                    self._send([self.suspects.popleft()], ended, alone=True)
                while not ended.has_ready():
                    with ended.thread_condition:
                        ended.thread_condition.wait(0.05)
                    self._workers()
                yield from self._received(*next(ended))
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(ended.futures))

    def _send(self, tasks: list[_T], ended: "as_completed", alone: bool = False) -> None:
        try:
            work = cast(Callable[[list[_T]], object], self.guarded)
            future: Future[object] = self.client.submit(work, tasks, pure=False)
        except Exception as error:
            raise self._lost() from error
        self.running[future.key] = tasks, alone
        ended.add(future)

    def _received(
        self, future: "Future[object]", answer: object
    ) -> Iterator[Done[_T, _R | Failure]]:
        """What became of a bundle; after an accident its tasks are tried again by themselves."""
        from distributed import KilledWorker

        tasks, alone = self.running.pop(future.key)
        if future.status == "error":
            error = cast(tuple[type, BaseException], answer)[1]
            if not alone:
                self.suspects.extend(tasks)
                return
            if isinstance(error, KilledWorker):
                reason = "its worker died every time"
            else:  # the task or its value does not pickle
                reason = " ".join(f"{type(error).__name__}: {error}".split())
            yield Done(tasks[0], Failure(reason), 0.0)
            return
        if future.status != "finished" or isinstance(answer, BaseException):
            raise self._lost()
        if isinstance(answer, _Other):
            self._check_alike("that answered", answer.facts)
        results = cast(list[tuple[_R | Failure, float]], answer)
        spent = sum(seconds for _, seconds in results)
        self.bundle = max(1, min(_MOST, int(_BUNDLE * len(tasks) / max(spent, 1e-9))))
        for task, (value, seconds) in zip(tasks, results, strict=True):
            yield Done(task, value, seconds)

    def unfinished(self) -> list[_T]:
        """Tasks whose values have not come back."""
        return [*self.suspects, *(task for tasks, _ in self.running.values() for task in tasks)]

    def _workers(self) -> int:
        """How many there are, looked up now and then; none for long is an accident of our own."""
        now = time.monotonic()
        if now - self.looked > _LOOK:
            try:
                self.workers = len(self.client.nthreads())
            except Exception as error:
                raise self._lost() from error
            self.looked = now
            if self.workers:
                self.seen = now
        if self.where == "local" and now - self.seen > _ALONE:
            raise _NoWorkersError
        return self.workers

    def _check_alike(self, address: str, found: dict[str, str]) -> None:
        expected = self.guarded.expected
        other = [
            name for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)
        ]
        if other:
            told = ", ".join(
                f"{name} {found.get(name)} (here {expected.get(name)})" for name in other
            )
            raise ClusterError(f"the worker {address} is not like this process: {told}")

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the scheduler at {self.where} was lost; finished work is saved, run the same command "
            "again to go on"
        )


@contextlib.contextmanager
def _connected(where: str) -> Iterator["Client"]:
    from distributed import Client

    try:
        asyncio.run(_greeting(where))
        client = Client(where, timeout=PATIENCE, set_as_default=False)
    except Exception as error:
        reason = " ".join(str(error).split()) or "no answer"
        raise ClusterError(f"no dask scheduler answers at {where}: {reason}") from None
    try:
        yield client
    finally:
        client.close(timeout=PATIENCE)


async def _greeting(where: str) -> None:
    """Exchange greetings once; a dask client would wait for an answer without end."""
    from distributed.comm.core import connect
    from distributed.security import Security

    options = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(where, timeout=PATIENCE, **options), PATIENCE)
    comm.abort()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """dask's own remarks on dead workers and lost connections are the engine's to tell."""
    import distributed  # noqa: F401  sets the levels of its loggers

    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    names += ["tornado.application", "asyncio"]  # which tell of its callbacks that fail
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _check_installed() -> None:
    import importlib.util

    if importlib.util.find_spec("distributed") is None:
        raise ClusterError("--engine dask needs dask: pip install 'paritylab[cluster]'")


def _check_port(where: str) -> None:
    """Refuse at once what is no address or where nobody listens."""
    try:
        parts = urlsplit(where if "://" in where else f"tcp://{where}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None or parts.scheme not in ("tcp", "tls"):
        raise ClusterError(f"--cluster is local or an address such as tcp://host:8786, got {where}")
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error) or "no answer"
        raise ClusterError(f"no scheduler at {where}: {reason}") from None
