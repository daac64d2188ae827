"""Packages whose names load their module on first use; the names stand once, in the stub."""

import ast
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


@cache
def homes(file: str) -> dict[str, str]:
    """The module of every public name, read from the stub beside a package's `__init__.py`."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def names_of_stub(
    package: str, file: str, also: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package. also: names that the package has by itself."""

    def load(name: str) -> Any:
        if name == "__all__":
            return listed()
        if name not in homes(file):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes(file)[name]), name)

    def listed() -> list[str]:
        return [*also, *sorted(homes(file))]

    return load, listed
