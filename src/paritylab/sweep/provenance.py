"""What computed a result: versions and device."""

import platform
from functools import cache
from importlib import metadata

import jax

#: Distributions whose versions a result depends on.
DEPENDENCIES = ("paritylab", "jax", "jaxlib", "numpy", "scipy", "equinox")


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that compute."""
    found = {"python": platform.python_version()}
    for name in DEPENDENCIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "source tree"
    return found


@cache
def device() -> str:
    """The jax device that computes, such as "cpu"."""
    first = jax.devices()[0]
    return first.platform if first.platform == "cpu" else first.device_kind
