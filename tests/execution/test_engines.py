"""Engines: the same results from each, and nothing lost or left behind when something breaks."""

import logging
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paritylab.execution import engines
from paritylab.execution.engines import AHEAD, ClusterError, Failure, cluster, processes, serial

WORKERS = {"processes": processes(2), "dask": cluster("local", 2)}
ENGINES = {"serial": serial(), **WORKERS}
# dask leaves sockets to the garbage collector when its far end is killed.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("cluster"),
]


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_every_task_comes_back_with_its_value_or_its_failure(engine):
    done = {each.task: each for each in engine(math.sqrt, [4.0, -1.0, 9.0, 16.0])}
    assert [done[task].value for task in (4.0, 9.0, 16.0)] == [2.0, 3.0, 4.0]
    assert isinstance(done[-1.0].value, Failure)
    assert done[-1.0].value.reason.startswith("ValueError")
    assert all(each.seconds >= 0 for each in done.values())


@pytest.mark.parametrize("engine", WORKERS.values(), ids=WORKERS)
def test_no_tasks_start_no_process(engine):
    assert list(engine(math.sqrt, [])) == []


@pytest.mark.parametrize("engine", WORKERS.values(), ids=WORKERS)
def test_a_deadly_task_is_a_failure_and_the_rest_is_done(tmp_path, engine):
    trace = tmp_path / "tried"
    deadly = f"__import__('os')._exit(open({str(trace)!r}, 'a').write('x') + 2)"
    done = {each.task: each.value for each in engine(eval, ["1 + 1", deadly, "2 + 2"])}
    assert done["1 + 1"] == 2
    assert done["2 + 2"] == 4
    assert done[deadly].reason.startswith("its process died")
    assert len(trace.read_text()) > 1


@pytest.mark.parametrize("engine", WORKERS.values(), ids=WORKERS)
def test_a_process_that_dies_once_is_forgiven(tmp_path, engine):
    trace = tmp_path / "tried"
    shy = f"__import__('os').path.exists({str(trace)!r}) or (open({str(trace)!r}, 'w').close(), "
    shy += "__import__('os')._exit(1))"
    (done,) = engine(eval, [shy])
    assert done.value is True


def test_what_cannot_be_sent_is_a_failure():
    generator = "(each for each in [])"
    done = {each.task: each.value for each in processes(1)(eval, [generator, "5"])}
    assert isinstance(done[generator], Failure)
    assert done["5"] == 5
    (task,) = processes(1)(abs, [iter_forever()])
    assert isinstance(task.value, Failure)


def iter_forever():
    while True:
        yield 1


def test_tasks_are_taken_as_workers_become_free():
    taken = []

    def tasks():
        for number in range(10):
            taken.append(number)
            yield float(number)

    results = processes(2)(math.sqrt, tasks())
    next(results)
    assert len(taken) <= 1 + AHEAD * 2
    results.close()


@pytest.mark.parametrize("jobs", [0, -1])
def test_bad_numbers_of_jobs_are_refused(jobs):
    with pytest.raises(ValueError, match="at least 1"):
        processes(jobs)


SLEEPERS = """
import os, pathlib, signal, sys, time
from paritylab.execution.engines import processes

def sleep(task):
    pathlib.Path(f"pid-{os.getpid()}").touch()
    time.sleep(120)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    list(processes(2)(sleep, range(4)))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_early_end_leaves_nothing_running(elsewhere, how):
    (elsewhere / "sleepers.py").write_text(SLEEPERS)
    process = subprocess.Popen([sys.executable, "sleepers.py"], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 180  # workers import jax, on a busy machine slowly
        while len(pids := [int(path.name[4:]) for path in elsewhere.glob("pid-*")]) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (b"KeyboardInterrupt" in err) == (how == signal.SIGINT)
    # After Ctrl-C the workers are gone before their parent; after a kill they notice by themselves.
    deadline = time.monotonic() + (0 if how == signal.SIGINT else 60)
    while left := [pid for pid in pids if _runs(pid)]:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Whether a process is at work; one that ended but was never asked for is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:9"])
def test_an_address_without_a_scheduler_is_one_line(address, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 1)
    with pytest.raises(ClusterError, match="no dask scheduler answers at") as found:
        cluster(address)
    assert "\n" not in str(found.value)


@pytest.fixture
def scheduler():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    ) as local:
        yield local


def test_another_schedulers_workers_are_used(scheduler):
    done = list(cluster(scheduler.scheduler_address)(math.sqrt, [4.0, 9.0]))
    assert sorted(each.value for each in done) == [2.0, 3.0]


def test_a_lost_scheduler_is_one_line(scheduler):
    results = cluster(scheduler.scheduler_address)(time.sleep, [0.3] * 20)
    next(results)
    scheduler.close()
    with pytest.raises(ClusterError, match="was lost; finished work is saved, run the same"):
        list(results)


def test_a_callers_loggers_and_environment_are_left_alone():
    import distributed  # noqa: F401  whose import sets its own levels

    names = ("distributed", "distributed.worker", "tornado.application", "asyncio")

    def state():
        return [logging.getLogger(name).level for name in names], {
            k: v for k, v in os.environ.items() if k.startswith("DASK_LOGGING")
        }

    before = state()
    levels = []
    for done in cluster("local", 1)(abs, [-1]):
        levels.append(state()[0])
        assert done.value == 1
    assert levels == [before[0]]
    assert state() == before
