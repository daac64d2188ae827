"""Compiled code kept between runs, beside the results."""

import os
from pathlib import Path


def keep_compiled(store: Path) -> None:
    """Let jax keep compiled code in `compiled/` beside the store; call before jax is imported.

    Verdicts are recomputed after every change of the code, but most of their programs stay the
    same and need no second compiling. The environment variables of jax take precedence.
    """
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(store.absolute().parent / "compiled"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")
