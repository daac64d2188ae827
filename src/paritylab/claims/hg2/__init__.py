"""HG2: sparse XOR in one gradient step, on our reconstruction of its model."""
