"""What cannot be learned: frozen attention."""
