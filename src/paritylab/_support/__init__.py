"""Files, argument checks, numbers, colours and compiling: what no user imports."""
