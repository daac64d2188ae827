"""The command line with a real learner, killed; and sweeps whose clock jumps by days."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.faults.drivers import Tally, new_folder

from paritylab.sweep.store import Store

GRID = """learner = "xor"
runs = 400
block = 2
[problem]
n = 16
[settings]
width = [20, 30]
"""

#: The wall clock as a process sees it: a day ahead, then a day behind, every so many readings.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long jump(void) { static long calls; return (calls++ / JUMP % 2 ? 86400 : -86400); }
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += jump();
    return code;
}
int gettimeofday(struct timeval *t, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t) *t = now.tv_sec;
    return now.tv_sec;
}
"""


def kills(count: int, parent: Path) -> Tally:
    """`paritylab sweep run` with one XOR step, driver killed, engines in turn."""
    tally, draw = Tally("real learner killed"), random.Random(count)
    folder = new_folder(parent, "real")
    (folder / "grid.toml").write_text(GRID)
    truth = _calm(folder, tally)
    for number in range(count):
        engine = ("serial", "processes", "dask")[number % 3]
        process = _sweep(folder, "killed.db", engine)
        before = _blocks(folder / "killed.db")
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
            if len(_blocks(folder / "killed.db")) > len(before):
                break
        time.sleep(draw.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        tally.attempts += 1
        _, err = process.communicate()
        (folder / f"errors-{number}").write_text(err)
        tally.tracebacks += err.count("Traceback")
        after = _blocks(folder / "killed.db")
        tally.lost += len(set(before) - set(after))
        tally.wrong += any(truth.get(key) != rows for key, rows in after.items())
    last = _sweep(folder, "killed.db", "serial")
    last.communicate()
    tally.lost += len(set(truth) - set(_blocks(folder / "killed.db")))
    tally.notes["blocks at the end"] = len(truth)
    return tally


def clock_jumps(parent: Path) -> Tally:
    """Each engine under a wall clock that jumps by two days: the rows of a calm sweep."""
    tally, folder = Tally("clock jumps"), new_folder(parent, "clock")
    (folder / "grid.toml").write_text(GRID.replace("400", "20"))
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        tally.notes["no C compiler"] += 1
        return tally
    (folder / "clock.c").write_text(CLOCK)
    truth = _calm(folder, tally)
    for engine in ("serial", "processes", "dask"):
        shim = folder / f"clock-{engine}.so"  # not dask.so: Python would import it
        # dask reads the clock all the time and takes a jump for a lost connection.
        often = "-DJUMP=30000" if engine == "dask" else "-DJUMP=2000"
        build = [compiler, "-shared", "-fPIC", often, "-o", str(shim), str(folder / "clock.c")]
        subprocess.run([*build, "-ldl"], check=True)
        tally.attempts += 1
        _under(shim, folder, engine, tally)
        found = _blocks(folder / f"{engine}.db")
        tally.wrong += any(truth.get(key) != rows for key, rows in found.items())
        tally.lost += len(set(truth) - set(found))
    return tally


def _under(shim: Path, folder: Path, engine: str, tally: Tally) -> None:
    """Run until it completes; a jump may cost the connection to a cluster, which is one line."""
    for environment in [{"LD_PRELOAD": str(shim)}] * 3 + [{}]:
        process = _sweep(folder, f"{engine}.db", engine, **environment)
        try:
            _, err = process.communicate(timeout=180)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
            tally.notes[f"{engine} no end in 180 s"] += 1
        tally.tracebacks += err.count("Traceback")
        if process.returncode == 0:
            return
        tally.notes[f"{engine} ended with {process.returncode}"] += 1
    tally.wrong += 1


def _calm(folder: Path, tally: Tally) -> dict[str, object]:
    process = _sweep(folder, "calm.db", "serial")
    _, err = process.communicate()
    tally.wrong += process.returncode != 0
    tally.tracebacks += err.count("Traceback")
    return _blocks(folder / "calm.db")


def _sweep(folder: Path, store: str, engine: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paritylab", "sweep", "run", "grid.toml"]
    return subprocess.Popen(
        [*command, "--store", store, "--engine", engine],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _blocks(path: Path) -> dict[str, object]:
    if not path.exists():
        return {}
    with Store(path) as store:
        return {block["key"]: block["rows"] for block in store.blocks()}
