"""Hidden parities in tables: read, search, say in words, save, apply."""

from paritylab.discovery.rules import Rule
from paritylab.discovery.search import discover

__all__ = ["Rule", "discover"]
