import numpy as np

from paritylab import HeadAttention, Parity
from paritylab.theory import hg1

n = 8
heads = HeadAttention.at((0, 1, 7), Parity(n, (0, 1, 7)), tau=1 / n)
attention = np.asarray(heads.attention(), dtype=float)
far = np.eye(n)[4]  # a single one, opposite to the heads
s = attention.sum(axis=0) @ far
printed = hg1.motion_of_one_input(attention, far, heads.code.table, as_printed=True)
bound = hg1.spread_of_one_head(1 / n, n, hg1.smallest_near_attention(attention, 1 / n))
ones = hg1.motion_of_one_input(attention, np.ones(n), heads.code.table)
print("s:", s, "printed sum:", printed, "bound:", bound, "derivative at all ones:", ones)
assert s > 0 and printed < bound / 1000 and ones < 1e-10
