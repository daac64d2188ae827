from itertools import combinations, product

import numpy as np

x = np.array(list(product([1, -1], repeat=4)))
targets = np.stack([x[:, i] * x[:, j] for i, j in combinations(range(4), 2)])
features = targets  # f = Σ θ_p p(x), so ∇f = all six parities
gradients = 2 * (0 - targets) @ features.T / 16  # of E(h - f)² at θ = 0, one row per target
variance = np.mean(np.sum((gradients - gradients.mean(0)) ** 2, axis=1))
bound = np.mean(np.sum(features**2, axis=0)) / 6
print("variance", variance, "bound", bound)
assert variance > 3 * bound
