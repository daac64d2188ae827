"""What the theorems promise: bounds, constants and formulas as plain functions."""
