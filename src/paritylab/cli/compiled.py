"""Compiled code, kept between runs in the user's own folder."""

import os

from paritylab._support.user_folders import user_folder


def keep_compiled() -> None:
    """Let jax keep compiled code in the user's cache folder; call before jax is imported.

    Verdicts are recomputed after every change of the code, but most of their programs stay the
    same and need no second compiling. Compiled code is native code, so it is never read from a
    working folder, which may have come from elsewhere. jax's own variables take precedence. How
    programs are compiled is not changed: library and command line compute alike.
    """
    folder = user_folder("cache")
    if folder is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / "compiled"))
        # Small programs, too: worker processes find those that another one has compiled.
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
