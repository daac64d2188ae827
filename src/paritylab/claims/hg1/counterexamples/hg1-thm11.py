import numpy as np

n = 7
bits = np.array([[(i >> j) & 1 for j in range(n)] for i in range(2**n)])
score = np.sin(2 * np.pi * np.arange(n) / n + 0.9)  # one head of norm 1 on the circle, tau = 1
s = bits @ (np.exp(score) / np.exp(score).sum())  # tells all 128 inputs apart
y = 1 - 2 * (bits.sum(axis=1) % 2)
order = np.argsort(s)
t, target = s[order], y[order]
alpha = np.diff(np.diff(target) / np.diff(t), prepend=0.0)  # FFNN-1: hinges at t_0 ... t_126
prediction = target[0] + np.maximum(0, s[:, None] - t[:-1]) @ alpha
risk = np.mean(np.maximum(0, 1 - y * prediction) ** 2)
norms = np.linalg.norm(alpha) * np.sqrt(len(alpha))
bound = (1 - 2 / 2**2) * (1 - norms * 5 / n) ** 2
print("risk", risk, "printed bound", bound)
assert risk < 1e-12 < 9 < bound
