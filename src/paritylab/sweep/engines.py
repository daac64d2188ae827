"""Engines: one way to map a function over tasks, whether one by one or in many processes.

An engine takes a function and tasks and yields `Done(task, value, seconds)` for each task, in any
order. A task whose function raises, or whose process dies again and again, comes back with a
`Failure` for a value and the rest goes on. Tasks are taken from their iterable only when there is a
worker for them, so an iterable may decide late what is still worth doing. Leaving the loop early,
by `break` or Ctrl-C, ends the workers.

>>> [(done.task, done.value) for done in serial()(abs, [-2, 3])]
[(-2, 2), (3, 3)]
"""

import contextlib
import multiprocessing
import multiprocessing.spawn
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

_T = TypeVar("_T")
_R = TypeVar("_R")

#: How often a task is given to a new process after its first one died; the last times when all
#: others are done. Processes that die before they begin are not counted, up to so many in a row.
RETRIES, _STARTS = 3, 20


class Failure(NamedTuple):
    """Why a task has no value. reason: one line. details: the traceback, where there is one."""

    reason: str
    details: str = ""


class Done(NamedTuple, Generic[_T, _R]):
    """A finished task; value is what the function returned, or a `Failure`."""

    task: _T
    value: _R
    seconds: float


class Engine(Protocol):
    """Maps a function over tasks. Beyond `serial`, function, tasks and values must pickle."""

    def __call__(
        self, function: Callable[[_T], _R], tasks: Iterable[_T]
    ) -> Iterator[Done[_T, _R | Failure]]: ...


def serial() -> Engine:
    """One task after another in this process: the reference."""
    return _serial


def processes(jobs: int) -> Engine:
    """`jobs` worker processes, each started fresh (spawned) and kept for many tasks."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    return _Processes(jobs)


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
        value = _failure(error)
    return value, time.perf_counter() - start


def _failure(error: BaseException) -> Failure:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return Failure(reason, "".join(traceback.format_exception(error)))


@dataclass
class _Worker(Generic[_T, _R]):
    """A process, this end of its pipe, and the task it has."""

    process: SpawnProcess
    pipe: Connection
    task: _T | None = None
    attempt: int = 0
    begun: bool = False
    started: float = field(default_factory=time.perf_counter)

    def give(self, task: _T, attempt: int) -> None:
        self.task, self.attempt, self.started = task, attempt, time.perf_counter()
        self.begun = False
        # A process that has died meanwhile is noticed when its answer is read.
        with contextlib.suppress(ConnectionError):
            self.pipe.send(task)

    def given(self) -> _T:
        """The task it was given last."""
        return cast(_T, self.task)

    def receive(self) -> tuple[_R | Failure, float] | None:
        """The value and its seconds, None if it only begins; EOFError if the process has died."""
        try:
            answer: tuple[_R | Failure, float] | None = self.pipe.recv()
        except ConnectionError:
            raise EOFError from None
        self.begun = True
        return answer

    def end(self) -> None:
        self.process.terminate()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


@dataclass(frozen=True)
class _Processes:
    jobs: int

    def __call__(
        self, function: Callable[[_T], _R], tasks: Iterable[_T]
    ) -> Iterator[Done[_T, _R | Failure]]:
        waiting, again, unbegun = iter(tasks), list[tuple[_T, int]](), 0
        idle: list[_Worker[_T, _R]] = []
        busy: dict[Connection, _Worker[_T, _R]] = {}
        try:
            while True:
                while len(busy) < self.jobs and (turn := _next(waiting, again)):
                    worker = idle.pop() if idle else _start(function)
                    busy[worker.pipe] = worker
                    try:
                        worker.give(*turn)
                    except Exception as error:  # The task does not pickle.
                        idle.append(busy.pop(worker.pipe))
                        yield Done(turn[0], _failure(error), 0.0)
                if not busy:
                    return
                ready = wait(list(busy))
                for worker in [each for pipe, each in busy.items() if pipe in ready]:
                    try:
                        answer = worker.receive()
                    except EOFError:
                        del busy[worker.pipe]
                        worker.end()
                        unbegun = 0 if worker.begun else unbegun + 1
                        if worker.attempt < RETRIES and unbegun < _STARTS:
                            again.append((worker.given(), worker.attempt + worker.begun))
                            continue
                        reason = f"its process died ({_ending(worker.process)})"
                        seconds = time.perf_counter() - worker.started
                        yield Done(worker.given(), Failure(reason), seconds)
                        continue
                    if answer is None:
                        unbegun = 0
                        continue
                    del busy[worker.pipe]
                    idle.append(worker)
                    yield Done(worker.given(), *answer)
        finally:
            # Workers ignore Ctrl-C, so that their parent decides; here it ends them. All are told
            # before any is waited for, in case the waiting is interrupted as well.
            left = (*idle, *busy.values())
            for worker in left:
                worker.process.terminate()
            for worker in left:
                worker.end()


def _next(waiting: Iterator[_T], again: list[tuple[_T, int]]) -> tuple[_T, int] | None:
    if again and again[0][1] < RETRIES - 1:
        return again.pop(0)
    for task in waiting:
        return task, 0
    return again.pop(0) if again else None


def _start(function: Callable[[_T], _R]) -> _Worker[_T, _R]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    # A daemon ends with its parent even if the parent has no time to say so.
    process = context.Process(target=_work, args=(function, there), daemon=True)
    with quiet_starts():
        process.start()
    there.close()  # so that the death of the process closes the pipe
    return _Worker(process, here)


@contextlib.contextmanager
def quiet_starts() -> Iterator[None]:
    """Processes started meanwhile end in silence if their parent dies before telling them what to
    do; Python would print the traceback of an EOFError, perhaps into a shell long since used for
    something else."""
    usual = multiprocessing.spawn.get_command_line

    def command_line(**options: object) -> list[str]:
        line = usual(**options)
        if "-c" in line:
            place = line.index("-c") + 1
            cut_off = "(EOFError, ConnectionError, pickle.UnpicklingError)"
            line[place] = (
                f"import pickle\ntry:\n {line[place]}\n"
                f"except {cut_off}:\n raise SystemExit(1) from None"
            )
        return line

    multiprocessing.spawn.get_command_line = command_line
    try:
        yield
    finally:
        multiprocessing.spawn.get_command_line = usual


def _work(function: Callable[[_T], _R], pipe: Connection) -> None:
    """The life of a worker: receive a task, send back its value, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, ConnectionError):  # reset if the parent died with an answer unread
            return
        with contextlib.suppress(ConnectionError):
            pipe.send(None)
        value, seconds = timed(function, task)
        try:
            pipe.send((value, seconds))
        except ConnectionError:
            return
        except Exception as error:  # The value does not pickle.
            with contextlib.suppress(ConnectionError):
                pipe.send((_failure(error), seconds))


def _end_with_parent() -> None:
    """Leave at once if the parent is gone, however it went; a task may take hours."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ending(process: SpawnProcess) -> str:
    code = process.exitcode
    if code is not None and code < 0:
        return f"killed by signal {-code}"
    return f"exit code {code}"
