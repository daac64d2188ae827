"""Sweeps on a dask cluster: the rows of the serial engine, whatever happens to workers."""

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paritylab.sweep.store import Store

COIN = Path(__file__).parent / "coin.py"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]
GRID = (
    'learner = "coin"\nruns = 80\nblock = 2\nproblem = {n = 8, k = 2}\nsettings = {pause = 0.1}\n'
)


def contents(path):
    with Store(path, reading=True) as store:
        return [(block["key"], block["rows"]) for block in store.blocks()]


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
