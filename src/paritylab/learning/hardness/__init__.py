"""What cannot be learned, and the rivals: oracles, frozen attention, other networks."""
