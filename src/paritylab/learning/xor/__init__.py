"""Two heads on a hidden pair: one step or many, exact or from samples."""
