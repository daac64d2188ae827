"""Compiled code: made quickly, and kept between runs in the user's own folder."""

import os
from importlib.metadata import PackageNotFoundError, version

from paritylab.files import user_folder

#: Compiling takes less time without XLA's fusion emitters (hg1-temperature: 8.6 instead of 11.0 s
#: of processor time). This version of jaxlib knows the switch; another may end with an error at its
#: sight.
QUICK_TO_COMPILE = {"0.10.2": "--xla_cpu_use_fusion_emitters=false"}


def keep_compiled() -> None:
    """Let jax keep compiled code in the user's cache folder; call before jax is imported.

    Verdicts are recomputed after every change of the code, but most of their programs stay the
    same and need no second compiling. Compiled code is native code, so it is never read from a
    working folder, which may have come from elsewhere. jax's own variables take precedence.
    """
    folder = user_folder()
    if folder is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / "compiled"))
        # Small programs, too: worker processes find those that another one has compiled.
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    try:
        switch = QUICK_TO_COMPILE.get(version("jaxlib"))
    except PackageNotFoundError:
        return
    if switch is not None:
        os.environ.setdefault("XLA_FLAGS", switch)
