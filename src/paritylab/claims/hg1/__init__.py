"""Claims of HG1: k trainable heads learn k-parity; fixed attention and feed-forward nets cannot."""
