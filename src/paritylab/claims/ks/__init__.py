"""KS: chain of thought learns parity; without it gradients carry no signal."""
