"""How it is seen: figures and the self-contained HTML page, from rows alone.

Names load their module on first use, so that a verdict is put into words without jax.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
