"""A laboratory that runs the theory of how attention learns parity.

Public names load their module on first use, so importing the package is quick and changes no
global state. They are listed once, in `__init__.pyi`, where type checkers read them too.
"""

import lazy_loader

__version__ = "0.4.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
