"""The dask engine: the rows of the serial one, whatever happens to workers and schedulers."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from paritylab.sweep import cluster as module
from paritylab.sweep.cluster import ClusterError, cluster
from paritylab.sweep.engines import Failure
from paritylab.sweep.store import Store

COIN = Path(__file__).parent / "coin.py"
# dask leaves sockets to the garbage collector when its far end is killed.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("cluster"),
]


@pytest.fixture
def light(monkeypatch):
    """Workers that compare nothing, so that they start without jax."""
    monkeypatch.setattr(module, "here", dict)


@contextlib.contextmanager
def somebody_elses(workers=1, threads=1):
    """A scheduler with its own workers, in threads of this process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    ) as local:
        yield local


def test_nothing_to_do_starts_nothing():
    assert list(cluster("local")(eval, [])) == []


def _shy(path, times):
    """A task that kills its worker so many times, then returns the number."""
    return (
        f"(lambda file: __import__('os').kill(__import__('os').getpid(), 9) "
        f"if file.write('x') and file.flush() is None and file.tell() <= {times} else {times})"
        f"(open({str(path)!r}, 'a'))"
    )


def test_a_local_cluster_forgives_a_death_and_listens_on_loopback_only(light, tmp_path):
    shy, heard = _shy(tmp_path / "tried", 1), set()
    done = {}
    for each in cluster("local", 2)(eval, [shy, "1 / 0", *map(str, range(20))]):
        done[each.task] = each.value
        heard |= {address for pid in (os.getpid(), *workers_of("self")) for address in ports(pid)}
    assert done[shy] == 1
    assert (tmp_path / "tried").read_text().startswith("xx")
    assert [done[str(number)] for number in range(20)] == list(range(20))
    assert done["1 / 0"].reason == "ZeroDivisionError: division by zero"
    assert heard == {"0100007F"}, "127.0.0.1 only, as the kernel writes it"


@pytest.mark.slow
def test_a_deadly_task_is_reported_and_the_rest_is_done(light, tmp_path):
    shy, deadly = (
        [_shy(tmp_path / str(times), times) for times in (1, 2)],
        "__import__('os')._exit(3)",
    )
    tasks = [*shy, deadly, *map(str, range(20))]
    done = {each.task: each.value for each in cluster("local", 2)(eval, tasks)}
    assert [done[task] for task in shy] == [1, 2]
    assert [done[str(number)] for number in range(20)] == list(range(20))
    assert done[deadly] == Failure("its worker died every time")


def ports(pid):
    """Addresses on which a process accepts connections, from the kernel's tables."""
    with contextlib.suppress(FileNotFoundError):  # a worker that has just been killed
        links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.exists()]
        mine = {link[8:-1] for link in links if link.startswith("socket:")}
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and fields[9] in mine:
                    yield fields[1].split(":")[0]


def test_tasks_are_taken_as_workers_become_free(light):
    taken = []
    with somebody_elses() as other:
        results = cluster(other.scheduler_address)(str, (taken.append(i) or i for i in range(50)))
        next(results)
        assert len(taken) <= 1 + module.AHEAD
        results.close()


def test_another_schedulers_workers_are_used(light):
    with somebody_elses(workers=2) as other:
        done = cluster(other.scheduler_address)(abs, range(-5, 0))
        assert sorted(each.value for each in done) == [1, 2, 3, 4, 5]


def _odd():
    driver = threading.current_thread() is threading.main_thread()
    return {"numpy": "2.0" if driver else "1.9", "jax": "0.10"}


def test_workers_with_other_versions_are_refused_with_both_named(monkeypatch):
    monkeypatch.setattr(module, "here", _odd)
    with somebody_elses() as other, pytest.raises(ClusterError, match=r"numpy 1.9 \(here 2.0\)"):
        list(cluster(other.scheduler_address)(abs, [1]))


def test_a_worker_that_joins_later_is_refused_too():
    """The answer to each task says what computed it."""
    assert module._Guarded(abs, dict, {"code": "a"})([-1]) == module._Other({})
    ((value, _),) = module._Guarded(abs, dict, {})([-1])
    assert value == 1


def test_workers_with_many_threads_are_refused(light):
    with somebody_elses(threads=2) as other, pytest.raises(ClusterError, match="--nthreads 1"):
        list(cluster(other.scheduler_address)(abs, [1]))


def test_a_lost_scheduler_is_one_line(light):
    with somebody_elses() as other:
        results = cluster(other.scheduler_address)(time.sleep, [0, 0, 3, 3])
        next(results)
        threading.Timer(0.2, other.close).start()
        with pytest.raises(ClusterError, match="run the same command again"):
            list(results)


def test_callbacks_that_fail_when_a_scheduler_dies_are_not_told(caplog):
    names = ["distributed.client", "tornado.application", "asyncio"]
    with module._quiet():
        for name in names:
            logging.getLogger(name).error("a traceback of many lines")
    assert not caplog.records
    logging.getLogger("asyncio").error("afterwards")
    assert len(caplog.records) == 1


@contextlib.contextmanager
def port(answer):
    """Something that accepts connections and is no scheduler."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    if answer:
                        connection.sendall(answer)
                    kept.append(connection)

        kept = []
        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        for connection in kept:
            connection.close()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9], ids=len)
def test_what_is_no_scheduler_is_refused_in_time(light, answer):
    start = time.monotonic()
    with port(answer) as address, pytest.raises(ClusterError, match="no dask scheduler answers"):
        list(cluster(address)(abs, [1]))
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("address", ["nowhere", "tcp://x", "ftp://h:1", "tcp://h:x", "a b:1"])
def test_bad_addresses_are_named(address):
    with pytest.raises(ClusterError, match=r"scheduler|address"):
        cluster(address)


def test_an_unreachable_scheduler_is_one_line_and_exit_2(elsewhere, capsys):
    from paritylab.cli import main

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(SystemExit) as stopped:
            main(["sweep", "run", "xor", "--engine", "dask", "--cluster", address])
    assert time.monotonic() - start < 10
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"paritylab: no scheduler at {address}: Connection refused\n"


GRID = (
    'learner = "coin"\nruns = 80\nblock = 2\nproblem = {n = 8, k = 2}\nsettings = {pause = 0.1}\n'
)


def contents(path):
    with Store(path, reading=True) as store:
        return [(block["key"], block["rows"]) for block in store.blocks()]


def workers_of(pid):
    """Worker processes of a driver; multiprocessing keeps a helper of its own beside them."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread or process that has just ended
            for child in map(int, (task / "children").read_text().split()):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(child)
    return found


@pytest.mark.slow
def test_a_worker_killed_twice_changes_nothing(elsewhere):
    """Two local workers, one killed twice: the sweep completes with the rows of the serial one."""
    (elsewhere / "grid.toml").write_text(GRID)
    run = [sys.executable, "-m", "paritylab", "sweep", "run", "grid.toml", "--file", str(COIN)]
    subprocess.run([*run, "--store", "a.db"], check=True, capture_output=True)
    process = subprocess.Popen(
        [*run, "--store", "b.db", "--engine", "dask"], stderr=subprocess.PIPE, text=True
    )
    killed = 0
    deadline = time.monotonic() + 240
    while killed < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.3)
        started = (elsewhere / "b.db").exists() and len(contents("b.db")) > 5 * killed
        if started and (workers := workers_of(process.pid)):
            os.kill(workers[-1], signal.SIGKILL)
            killed += 1
    _, err = process.communicate(timeout=240)
    assert (killed, process.returncode) == (2, 0), err
    assert "Traceback" not in err
    assert len(contents("b.db")) == 40
    assert contents("a.db") == contents("b.db")


@pytest.mark.slow
def test_a_restarted_scheduler_is_one_line_and_the_sweep_goes_on(elsewhere):
    (elsewhere / "grid.toml").write_text(GRID)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        number = unused.getsockname()[1]
    address = f"tcp://127.0.0.1:{number}"
    dask = [sys.executable, "-m", "dask"]
    started = []

    def start_cluster():
        where = ["--host", "127.0.0.1", "--port", str(number), "--no-dashboard"]
        started.append(subprocess.Popen([*dask, "scheduler", *where], stderr=subprocess.DEVNULL))
        worker = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        started.append(
            subprocess.Popen([*dask, "worker", address, *worker], stderr=subprocess.DEVNULL)
        )
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", number), 1):
                return
            time.sleep(0.1)

    run = [sys.executable, "-m", "paritylab", "sweep", "run", "grid.toml", "--file", str(COIN)]
    run += ["--store", "s.db", "--engine", "dask", "--cluster", address]
    try:
        start_cluster()
        first = subprocess.Popen(run, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            time.sleep(0.1)
            if (elsewhere / "s.db").exists() and len(contents("s.db")) > 3:
                break
        for process in started:
            process.kill()
            process.wait()
        start_cluster()
        _, err = first.communicate(timeout=120)
        assert first.returncode == 2
        lines = [line for line in err.splitlines() if "blocks" not in line]
        assert len(lines) == 1, err
        assert "was lost; finished work is saved, run the same command again" in lines[0]
        kept = len(contents("s.db"))
        assert 3 < kept < 40
        again = subprocess.run(run, capture_output=True, text=True, check=True, timeout=240)
        assert f"{40 - kept} blocks computed" in again.stderr
        assert len(contents("s.db")) == 40
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_ctrl_c_keeps_finished_work_and_leaves_no_worker(elsewhere, interruptible):
    (elsewhere / "grid.toml").write_text(GRID.replace("80", "4000"))
    run = [*interruptible, "sweep", "run", "grid.toml", "--store", "s.db", "--file", str(COIN)]
    # A terminal sends Ctrl-C to the whole group: workers must leave the decision to the driver.
    process = subprocess.Popen(
        [*run, "--engine", "dask"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.2)
        if (elsewhere / "s.db").exists() and len(contents("s.db")) > 3:
            break
    workers = workers_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert len(workers) == 2
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    assert 3 < len(contents("s.db")) < 2000
