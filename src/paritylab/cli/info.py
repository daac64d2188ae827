"""`paritylab info`: what is here, what is missing, where things are kept."""

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path

import typer

from paritylab import __version__
from paritylab.files import user_folder

#: What each extra brings, and what it is for.
EXTRAS = {
    "cluster": ("distributed", "sweeps on many machines"),
    "data": ("pandas", "tables as data frames, Parquet"),
    "proofs": ("flint", "paritylab prove"),
    "docs": ("zensical", "make site"),
    "bench": ("galois", "peers in benchmarks"),
    "cuda": ("jax_cuda12_plugin", "an NVIDIA accelerator"),
}


def add_to(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command("info", epilog="Example: paritylab info")(show)


def show() -> None:
    """Show versions, devices, cores, where results are kept, and what is missing."""
    from importlib.util import find_spec

    print(f"paritylab {__version__}, Python {platform.python_version()}, {platform.platform()}")
    for name in ("jax", "jaxlib", "numpy", "scipy", "equinox", "scikit-learn"):
        print(f"  {name} {_version(name)}")
    print(f"cores: {_cores()}; devices: {_devices()}")
    store = Path(os.environ.get("PARITYLAB_STORE", ".paritylab/store.db"))
    size = f"{store.stat().st_size / 1e6:.1f} MB" if store.is_file() else "not there yet"
    print(f"store: {store} ({size}); delete the file to forget all results")
    print(f"compiled code: {user_folder() or 'not kept'}; delete the folder to compile anew")
    for extra, (module, purpose) in EXTRAS.items():
        there = find_spec(module) is not None
        told = "installed" if there else f'missing: pip install "paritylab[{extra}]"'
        print(f"  extra {extra} ({purpose}): {told}")
    for program, purpose in (("chromium", "browser tests"), ("cc", "tests of emitted C")):
        if shutil.which(program) is None:
            print(f"  {program} is not on the path ({purpose})")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _devices() -> str:
    try:
        import jax

        return ", ".join(sorted({each.device_kind for each in jax.devices()}))
    except Exception as error:
        print(f"jax finds no device: {error}", file=sys.stderr)
        return "none"
