"""Ordinary transformers: the chains they are shown, and how they are trained."""
