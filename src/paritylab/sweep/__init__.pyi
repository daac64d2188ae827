from paritylab.execution.store import Store as Store, StoreError as StoreError
from paritylab.sweep.blocks import learners_from_file as learners_from_file
from paritylab.sweep.cells import rates as rates
from paritylab.sweep.grid import Grid as Grid, Spec as Spec, grid_from_toml as grid_from_toml
from paritylab.sweep.runner import run_sweep as run_sweep
