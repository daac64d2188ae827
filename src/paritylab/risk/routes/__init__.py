"""Routes to one expectation; `risk.population.ROUTES` says which is taken when."""
