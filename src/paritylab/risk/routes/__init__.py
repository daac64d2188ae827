"""Routes to one expectation: closed form, half-sums, lattice, series."""
