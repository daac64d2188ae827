"""A laboratory that runs the theory of how attention learns parity.

Public names load their module on first use, so importing the package is quick and changes no
global state. They are listed once, in `__init__.pyi`, where type checkers read them too.
"""

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import Any

__version__ = "0.3.0"


@cache
def _homes() -> dict[str, str]:
    """The module of every public name, read from the stub beside this file."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name not in _homes():
        raise AttributeError(f"module 'paritylab' has no attribute {name!r}")
    return getattr(importlib.import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return ["__version__", *sorted(_homes())]
