"""`paritylab info`: what is here, what is missing, where things are kept."""

import os
import platform
from importlib.util import find_spec
from pathlib import Path

import typer

from paritylab import __version__
from paritylab._support.user_folders import user_folder
from paritylab.cli.options import store_path
from paritylab.execution.provenance import versions

#: A module that each extra brings, and what it is for.
EXTRAS = {
    "cluster": ("distributed", "sweeps on many machines"),
    "data": ("pyarrow", "Parquet"),
    "proofs": ("flint", "paritylab prove"),
    "cuda": ("jax_cuda12_plugin", "an NVIDIA accelerator"),
}


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("info", epilog="Example: paritylab info")(show)


def show() -> None:
    """Show versions, devices, cores, where results are kept, and what is missing."""
    print(f"paritylab {__version__} on {platform.platform()}")
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"cores: {cores}; devices: {_devices()}")
    named = os.environ.get("PARITYLAB_STORE")
    store = store_path(Path(named) if named else None)
    size = f"{store.stat().st_size / 1e6:.1f} MB" if store.is_file() else "not there yet"
    print(f"store: {store} ({size}); delete the file to forget all results")
    print(f"compiled code: {user_folder('cache') or 'not kept'}; delete the folder to compile anew")
    for extra, (module, purpose) in EXTRAS.items():
        state = "installed" if find_spec(module) else f'missing: pip install "paritylab[{extra}]"'
        print(f"  extra {extra} ({purpose}): {state}")


def _devices() -> str:
    try:
        import jax

        return ", ".join(sorted({each.device_kind for each in jax.devices()}))
    except Exception as error:
        return f"none ({error or 'see JAX_PLATFORMS'})"
