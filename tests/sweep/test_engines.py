"""Engines: the same results from each, and nothing lost or left behind when something breaks."""

import math
import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paritylab.sweep import engines
from paritylab.sweep.engines import RETRIES, Failure, _work, processes, serial

ENGINES = {"serial": serial(), "processes": processes(2)}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_every_task_comes_back_with_its_value_or_its_failure(engine):
    done = {each.task: each for each in engine(math.sqrt, [4.0, -1.0, 9.0, 16.0])}
    assert [done[task].value for task in (4.0, 9.0, 16.0)] == [2.0, 3.0, 4.0]
    assert isinstance(done[-1.0].value, Failure)
    assert done[-1.0].value.reason.startswith("ValueError")
    assert "Traceback" in done[-1.0].value.details
    assert all(each.seconds >= 0 for each in done.values())


def test_no_tasks_start_no_process():
    assert list(processes(2)(math.sqrt, [])) == []


def test_a_dead_process_is_a_failure_of_its_task_after_some_retries(tmp_path):
    trace = tmp_path / "tried"
    deadly = f"__import__('os')._exit(open({str(trace)!r}, 'a').write('x') + 2)"
    done = {each.task: each.value for each in processes(2)(eval, ["1 + 1", deadly, "2 + 2"])}
    assert done["1 + 1"] == 2
    assert done["2 + 2"] == 4
    assert done[deadly] == Failure("its process died (exit code 3)")
    assert trace.read_text() == "x" * (1 + RETRIES)


def test_a_process_that_dies_once_is_forgiven(tmp_path):
    trace = tmp_path / "tried"
    shy = f"__import__('os').path.exists({str(trace)!r}) or (open({str(trace)!r}, 'w').close(), "
    shy += "__import__('os')._exit(1))"
    (done,) = processes(1)(eval, [shy])
    assert done.value is True


def test_a_death_before_the_task_begins_is_not_charged_to_it(tmp_path, monkeypatch):
    usual, started = engines._start, []

    def start(function):
        worker = usual(function)
        started.append(worker)
        if len(started) <= RETRIES + 3:
            worker.process.kill()
        return worker

    monkeypatch.setattr(engines, "_start", start)
    (done,) = processes(1)(eval, ["1 + 1"])
    assert done.value == 2
    assert len(started) == RETRIES + 4


def test_what_cannot_be_sent_is_a_failure():
    done = {str(each.task): each.value for each in processes(1)(eval, ["lambda: 0", "5"])}
    assert isinstance(done["lambda: 0"], Failure)
    assert done["5"] == 5
    (task,) = processes(1)(abs, [lambda: 0])
    assert isinstance(task.value, Failure)


def test_tasks_are_taken_as_workers_become_free():
    taken = []

    def tasks():
        for number in range(10):
            taken.append(number)
            yield float(number)

    results = processes(2)(math.sqrt, tasks())
    next(results)
    assert len(taken) <= 3
    results.close()


@pytest.mark.parametrize("jobs", [0, -1])
def test_bad_numbers_of_jobs_are_refused(jobs):
    with pytest.raises(ValueError, match="at least 1"):
        processes(jobs)


SLEEPERS = """
import os, pathlib, signal, sys, time
from paritylab.sweep.engines import processes

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


def test_a_worker_ends_in_silence_if_its_parent_dies_with_an_answer_unread():
    def end_of_a_dead_parent():
        parent, worker = multiprocessing.Pipe()
        worker.send("an answer that nobody reads")
        parent.close()
        return worker

    with pytest.raises(ConnectionResetError):
        end_of_a_dead_parent().recv()
    usual = signal.getsignal(signal.SIGINT)
    try:
        assert _work(abs, end_of_a_dead_parent()) is None
    finally:
        signal.signal(signal.SIGINT, usual)
