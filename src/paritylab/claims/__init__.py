"""Theory against learning: a claim is a list of comparisons, and one rule judges them.

Names load their module on first use, so that a list of claims or a stored verdict needs no jax.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
