"""How far rows support a parity: levels, power, rows that depend on each other, other forms."""
