"""Many runs: blocks of seeds, success rates with intervals, and the store that keeps results."""

from paritylab.sweep.blocks import learners_from_file
from paritylab.sweep.grid import Grid, grid_from_toml
from paritylab.sweep.runner import rates, run_sweep
from paritylab.sweep.spec import Spec
from paritylab.sweep.store import Store, StoreError, open_store

__all__ = [
    "Grid",
    "Spec",
    "Store",
    "StoreError",
    "grid_from_toml",
    "learners_from_file",
    "open_store",
    "rates",
    "run_sweep",
]
