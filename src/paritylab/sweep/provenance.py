"""What computed a result: code, versions, precision and device."""

import ast
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from types import CodeType

#: Distributions whose versions a result depends on.
DEPENDENCIES = ("paritylab", "jax", "jaxlib", "numpy", "scipy", "equinox")
#: Settings of jax that change numbers without changing code, as they usually are.
_FLAGS = {
    "jax_enable_x64": "False",
    "jax_default_matmul_precision": "None",
    "jax_default_prng_impl": "threefry2x32",
    "jax_threefry_partitionable": "True",
}
_PACKAGE = Path(__file__).resolve().parents[1]
#: Folders of the package that only show results.
_FACES = ("report", "cli")
#: Files of a user's own as they were when they were loaded, and modules compared with them.
_LOADED: dict[Path, str] = {}
_LOOKED_AT: set[str] = set()


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


def occasion() -> dict[str, str]:
    """The day and, in a source tree under git, the commit ("-dirty" if files differ from it)."""
    commit = _commit()
    return {"date": datetime.now(UTC).date().isoformat(), **({"commit": commit} if commit else {})}


@cache
def _commit() -> str:
    if not (_PACKAGE.parents[1] / ".git").exists():
        return ""
    command = ["git", "-C", str(_PACKAGE), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


@cache
def device() -> str:
    """The jax device that computes, such as "cpu"."""
    if _is_plain_cpu():
        return "cpu"
    import jax

    first = jax.devices()[0]
    return str(first.platform if first.platform == "cpu" else first.device_kind)


def precision() -> dict[str, str]:
    """jax's switches for float64, matrix products and random numbers, as they stand now."""
    if "jax" not in sys.modules and not any(name.upper() in os.environ for name in _FLAGS):
        return dict(_FLAGS)
    import jax

    return {name: str(getattr(jax.config, name, None)) for name in _FLAGS}


def _is_plain_cpu() -> bool:
    """Whether jax is not loaded and, once it were, could only compute on the processor."""
    platforms = os.environ.get("JAX_PLATFORMS", "")
    plugins = ("jax_plugins", "jax_cuda12_plugin", "jax_cuda13_plugin", "libtpu")
    accelerated = any(importlib.util.find_spec(name) for name in plugins)
    return "jax" not in sys.modules and (platforms == "cpu" or (not platforms and not accelerated))


@cache
def code_fingerprint() -> str:
    """Hash of the package's code, less the parts that only show results."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        relative = path.relative_to(_PACKAGE)
        if relative.parts[0] not in _FACES:
            digest.update(str(relative).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def fingerprint_of(*things: object) -> str:
    """Hash of everything a result of these functions or objects depends on but their arguments.

    It covers the package's code, the file that defines each thing together with the modules it
    imports from a user's own folders (theirs too), versions, device and precision. None is skipped.
    What was typed into a console has no file: there the compiled code stands for it.
    """
    sources = [text for thing in things if thing is not None for text in _source_of(thing)]
    facts = [code_fingerprint(), sources, versions(), device(), precision()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def remember(path: Path) -> None:
    """Know a user's file and its helpers, from now on, by what they are at this moment.

    Call it before the file is run: what is loaded keeps its name, whatever becomes of the files. A
    helper that is loaded already keeps the name it has.
    """
    start = path.resolve()
    loaded = {str(getattr(module, "__file__", "")) for module in list(sys.modules.values())}
    for file in [start, *helper_files(path)]:
        if file == start or str(file) not in loaded:
            _LOADED[file] = _digest(file)


def edited_since(path: Path | None = None) -> Path | None:
    """A remembered file that is another one now, if a module was loaded from it meanwhile.

    path: this file counts whether loaded or not. Each module is looked at once, when it is new.
    """
    for name, module in list(sys.modules.items()):
        if name in _LOOKED_AT:
            continue
        _LOOKED_AT.add(name)
        file = Path(getattr(module, "__file__", None) or "<none>")
        if file in _LOADED and _LOADED[file] != _digest(file):
            return file
    files = [] if path is None else [path.resolve(), *helper_files(path)]
    return next((file for file in files if _LOADED.get(file) != _digest(file)), None)


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return "gone"


def facts() -> dict[str, str]:
    """What every result of this process depends on, by name."""
    return {**versions(), "code": code_fingerprint()[:12], "device": device(), **precision()}


def helper_files(path: Path) -> list[Path]:
    """The files of a user's own that a file imports, directly or through others of them.

    Installed libraries, the standard library and paritylab itself are not a user's own. Imports
    are read from the text, so those inside functions count before they have run.
    """
    start, found = path.resolve(), set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        for each in _imported_files(file):
            if each != start and each not in found:
                found.add(each)
                waiting.append(each)
    return sorted(found)


def _source_of(thing: object) -> list[str]:
    while isinstance(thing, functools.partial):
        thing = thing.func
    if callable(thing):
        thing = inspect.unwrap(thing)
    code = getattr(thing, "__code__", None)
    if code is None:
        kind = thing if isinstance(thing, type) else type(thing)
        module = sys.modules.get(kind.__module__)
        path = Path(getattr(module, "__file__", None) or "<console>")
        code = [c for m in vars(kind).values() if (c := getattr(m, "__code__", None))]
    else:
        path = Path(code.co_filename)
    if not path.is_file():
        return [_code_text(code)]
    if _is_installed(path):
        # The package's own files are in its fingerprint, other libraries in the versions.
        return []
    files = [path.resolve(), *helper_files(path)]
    return [_LOADED.get(file) or _digest(file) for file in files]


def _code_text(code: object) -> str:
    """Bytecode, names and constants, those of inner functions included."""
    if isinstance(code, CodeType):
        inner = [_code_text(const) for const in code.co_consts]
        return json.dumps([code.co_code.hex(), list(code.co_names), inner])
    return json.dumps([_code_text(each) for each in code]) if isinstance(code, list) else repr(code)


def _imported_files(path: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return  # Whoever runs the file reports it with its line.
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _find(alias.name, _roots(path))
        elif isinstance(node, ast.ImportFrom) and node.level:
            root = path.parents[node.level - 1]
            base = f"{node.module}." if node.module else ""
            for alias in node.names:
                yield from _find(f"{base}{alias.name}", [root])
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield from _find(f"{node.module}.{alias.name}", _roots(path))


def _roots(path: Path) -> list[Path]:
    return [path.parent, *(Path(entry or ".").resolve() for entry in sys.path)]


def _find(name: str, roots: list[Path]) -> Iterator[Path]:
    """The files behind a dotted name: each package on the way, and the module if it is one."""
    parts = name.split(".")
    if parts[0] in sys.stdlib_module_names or parts[0] == _PACKAGE.name:
        return
    for root in roots:
        files = [
            file
            for depth in range(1, len(parts) + 1)
            for stem in [root.joinpath(*parts[:depth])]
            for file in (stem.with_suffix(".py"), stem / "__init__.py")
            if file.is_file()
        ]
        if files:
            yield from (file.resolve() for file in files if not _is_installed(file))
            return


@cache
def _installed_roots() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (_PACKAGE, *(Path(sysconfig.get_paths()[name]).resolve() for name in names))


def _is_installed(path: Path) -> bool:
    path = path.resolve()
    return "site-packages" in path.parts or any(path.is_relative_to(r) for r in _installed_roots())
