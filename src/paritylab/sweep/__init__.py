"""Many runs: blocks of seeds, success rates with intervals, and the store that keeps results.

Names load their module on first use, so that engines and stores come without jax.
"""

from paritylab.lazy import names_of_stub

__getattr__, __dir__ = names_of_stub(__name__, __file__)
