"""Many runs: blocks of seeds, success rates with intervals, and the store that keeps results."""

from paritylab.sweep.grid import Grid, grid_from_toml
from paritylab.sweep.learners import LEARNERS, learner
from paritylab.sweep.run import Run, load_run, save_run
from paritylab.sweep.runner import rates, run_sweep, serial
from paritylab.sweep.spec import Spec
from paritylab.sweep.store import Store, StoreError, open_store

__all__ = [
    "LEARNERS",
    "Grid",
    "Run",
    "Spec",
    "Store",
    "StoreError",
    "grid_from_toml",
    "learner",
    "load_run",
    "open_store",
    "rates",
    "run_sweep",
    "save_run",
    "serial",
]
