"""Many runs: blocks of seeds, success rates with intervals, and the store that keeps results.

Names load their module on first use, so that engines and stores come without jax.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
