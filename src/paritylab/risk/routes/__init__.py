"""Routes to one expectation; `risk.table` says which is taken when."""
