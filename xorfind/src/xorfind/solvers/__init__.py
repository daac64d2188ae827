"""Methods that look for a parity, and `solve`, which chooses among them."""
