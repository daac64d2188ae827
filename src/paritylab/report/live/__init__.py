"""The live page: one self-contained file in which heads move and a chain fills."""
