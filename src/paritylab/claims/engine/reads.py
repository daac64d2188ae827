"""What a user's claim reads besides its code: declared, or refused.

A verdict is reused while nothing it depends on has changed. Files and environment variables that a
claim reads are such things, so it names them: `@claim(…, reads=("rows.csv",))`. What it opens is
watched while its file is loaded and while it runs; variables are looked for in its text.
"""

import ast
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path

from paritylab.files import user_folder

_NATIVE = {".pyi", ".so", ".dll", ".pyd"}
_PACKAGE = Path(__file__).resolve().parents[2]
_SYSTEM = ("/usr", "/etc", "/lib", "/lib64", "/proc", "/sys", "/dev", "/opt")
_READERS = ("getenv", "environ.get")
_watching: list[set[Path]] = []
_written: set[Path] = set()
#: What was opened while a user's file was loaded.
_at_loading: dict[Path, set[Path]] = {}


@contextmanager
def opened_files() -> Iterator[set[Path]]:
    """Data files opened for reading meanwhile, those written in this process left out."""
    _install()
    seen: set[Path] = set()
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)


@contextmanager
def loading(file: Path) -> Iterator[None]:
    """Keep what is opened meanwhile: a user's file reads it at its top."""
    with opened_files() as seen:
        _at_loading[file.resolve()] = seen
        yield


def opened_at_loading(file: Path) -> set[Path]:
    """What a user's file opened when it was loaded."""
    return _at_loading.get(file.resolve(), set())


def undeclared(opened: Iterable[Path], reads: Iterable[str], code: Iterable[Path]) -> str:
    """Why a claim is refused: what it reads and does not name; "" if there is nothing.

    code: files that the verdict depends on anyway.
    """
    code = list(code)
    known = {*(Path(each).resolve() for each in reads), *(file.resolve() for file in code)}
    odd = sorted(str(path) for path in opened if path.resolve() not in known)
    if odd:
        return f'reads {odd[0]}; name it: @claim(…, reads=("{Path(odd[0]).name}",))'
    variables = sorted({name for file in code for name in _variables(file)} - set(reads))
    if variables:
        return f'reads the environment ({variables[0]}); name it: reads=("{variables[0]}",)'
    return ""


def declared_values(reads: Iterable[str]) -> dict[str, str]:
    """The environment variables among what a claim names, with their values now."""
    return {f"${name}": os.environ[name] for name in reads if name in os.environ}


@cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _watching or not isinstance(arguments[0], str | bytes):
        return
    path, mode = Path(os.fsdecode(arguments[0])).absolute(), str(arguments[1] or "r")
    if set(mode) & set("wax+"):
        _written.add(path)
    elif _is_theirs(source := _source(path)):
        for seen in _watching:
            seen.add(source)


def _source(path: Path) -> Path:
    """The file itself, or the one that compiled Python code was made from."""
    try:
        return Path(source_from_cache(path)) if path.suffix == ".pyc" else path
    except ValueError:
        return path


def _is_theirs(path: Path) -> bool:
    """Whether a user keeps it: data, or code loaded by hand; not a library's, a cache's, ours."""
    if path.suffix in _NATIVE or path in _written or "site-packages" in path.parts:
        return False
    kept = [user_folder(), os.environ.get("JAX_COMPILATION_CACHE_DIR")]
    kept += [Path.home() / name for name in (".cache", ".config")]
    own = [sys.prefix, sys.base_prefix, _PACKAGE, *_SYSTEM, *filter(None, kept)]
    return not any(path.is_relative_to(str(root)) for root in own) and path.is_file()


def _variables(file: Path) -> Iterator[str]:
    """Names of environment variables that a file reads; "?" where the name is not written out."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(_READERS):
            yield _text(node.args[0]) if node.args else "?"
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("environ"):
            yield _text(node.slice)


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "?"
