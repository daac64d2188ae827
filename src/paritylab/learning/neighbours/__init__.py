"""Feed-forward neighbours: the two-layer nets that the papers measure themselves against."""
