"""Compiled code: made quickly, and kept between runs in the user's own folder."""

import os
from importlib.metadata import PackageNotFoundError, version

from paritylab.files import user_folder

#: A third of the compiling is saved at LLVM's first level of optimisation, more without XLA's
#: fusion emitters; most of what is compiled runs as fast (docs/benchmarks.md, with what does not).
#: This version of jaxlib knows the switches; another may end with an error at their sight.
QUICK_TO_COMPILE = {
    "0.10.2": "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1"
}


def keep_compiled() -> None:
    """Let jax keep compiled code in the user's cache folder; call before jax is imported.

    Verdicts are recomputed after every change of the code, but most of their programs stay the
    same and need no second compiling. Compiled code is native code, so it is never read from a
    working folder, which may have come from elsewhere. jax's own variables take precedence.
    """
    folder = user_folder("cache")
    if folder is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / "compiled"))
        # Small programs, too: worker processes find those that another one has compiled.
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    compile_quickly()


def compile_quickly() -> None:
    """Let XLA spend less on optimising; call before jax is imported. XLA_FLAGS take precedence."""
    try:
        switches = QUICK_TO_COMPILE.get(version("jaxlib"))
    except PackageNotFoundError:
        return
    if switches is not None:
        os.environ.setdefault("XLA_FLAGS", switches)
