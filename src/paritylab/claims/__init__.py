"""Theory against learning: a claim is a list of comparisons, and one rule judges them.

Names load their module on first use, so that a list of claims or a stored verdict needs no jax.
"""

from paritylab.lazy import names_of_stub

__getattr__, __dir__ = names_of_stub(__name__, __file__)
