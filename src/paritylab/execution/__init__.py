"""How work is run and stored: engines, the store of results, and what produced each of them.

Names load their module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
