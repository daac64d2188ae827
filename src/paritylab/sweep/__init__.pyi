from .blocks import learners_from_file as learners_from_file
from .cells import rates as rates
from .grid import Grid as Grid, Spec as Spec, grid_from_toml as grid_from_toml
from .runner import run_sweep as run_sweep
