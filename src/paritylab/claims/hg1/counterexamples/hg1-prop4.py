import numpy as np

n, B, missing = 8, (1, 4, 6), 1
bits = np.array([[(i >> j) & 1 for j in range(n)] for i in range(2**n)])
labels = (-1.0) ** bits[:, B].sum(axis=1)
edges = np.where(np.arange(n) == missing, 0.0, 1.0)  # one neuron, an edge from every bit but one
outputs = np.maximum(bits @ edges - 2, 0)
risk = np.mean(np.maximum(1 - labels * outputs, 0) ** 2)
print("risk of a net without an edge from bit", missing, "of B:", risk)
assert risk > 2  # Proposition 4 says that it is 1
