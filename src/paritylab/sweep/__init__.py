"""Many runs: blocks of seeds, success rates with intervals, and the store that keeps results.

Names load their module on first use, so that engines and stores come without jax.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paritylab.sweep.blocks import learners_from_file
    from paritylab.sweep.cells import rates
    from paritylab.sweep.grid import Grid, grid_from_toml
    from paritylab.sweep.runner import run_sweep
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

_HOMES = {
    "blocks": ["learners_from_file"],
    "cells": ["rates"],
    "grid": ["Grid", "grid_from_toml"],
    "runner": ["run_sweep"],
    "spec": ["Spec"],
    "store": ["Store", "StoreError", "open_store"],
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
