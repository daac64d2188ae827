from itertools import combinations

import numpy as np

n = 10
bits = np.array([[(i >> j) & 1 for j in range(n)] for i in range(2**n)])
pairs = list(combinations(range(n), 2))
features = np.stack([(-1.0) ** (bits[:, i] + bits[:, j]) for i, j in pairs], axis=1)
for b, (i, j) in enumerate(pairs):  # weight 1 on one of 45 features, for every B of size 2
    assert np.all(features @ np.eye(len(pairs))[b] == (-1.0) ** (bits[:, i] + bits[:, j]))
print(len(pairs), "fixed features, risk 0 for every pair at n =", n)
assert len(pairs) < 2**n / 20
