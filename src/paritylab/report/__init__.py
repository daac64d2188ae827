"""How it is seen: figures and the self-contained HTML page, from rows alone.

Names load their module on first use, so that a verdict is put into words without jax.
"""

from paritylab.lazy import names_of_stub

__getattr__, __dir__ = names_of_stub(__name__, __file__)
