"""How work is run and stored: engines, the store of results, and what produced each of them."""
