"""Charts of measured numbers, drawn once for pages, the terminal and notebooks.

Names load their module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
