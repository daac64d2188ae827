"""Claims about HG2 (arXiv 2502.07553 v2), known here by its abstract only.

What follows is judged in a reconstruction of ours, and a verdict is one about that. It assumes: n
signs x, a hidden pair, labels y = -x_i·x_j; fixed positions p_1 … p_n of m = 12 ln n random signs
each, the same for every input; two heads w ∈ R^m that weigh position l by softmax(<w, p_l>) and
start at w = 0; z, the mean of both heads' weighted sums of x; the fixed readout ŷ = 1 - 2z²; one
gradient step on ½E(ŷ - y)² over all inputs (or over N rows) whose size makes the pair's scores
2 ln n + 6; "loss near 0" read as ½(ŷ - y)² ≤ 0.01 on every input. The abstract fixes neither the
code of positions, the readout, the start nor the step. From w = 0 the two heads stay equal
(tests/learning/xor/test_one_head.py). docs/hg2.md says the same for readers.
"""
