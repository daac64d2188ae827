import numpy as np

n, scale, b = 7, 1e9, 1e-24  # tokens are scale·x, and the neurons are smoothed by b > 0
bits = np.array([[(i >> j) & 1 for j in range(n)] for i in range(2**n)])
score = np.sin(2 * np.pi * np.arange(n) / n + 0.9)  # one head of norm 1 on the circle, tau = 1
v = scale * bits @ (np.exp(score) / np.exp(score).sum())  # tells all 128 inputs apart
order = np.argsort(v)
at = v[order] / scale
risks, norms = [], []
for number in range(1, 2**n):  # every set B, as the digits of a number
    y = 1 - 2 * ((bits @ [(number >> j) & 1 for j in range(n)]) % 2)
    alpha = np.diff(np.diff(y[order]) / np.diff(at), prepend=0.0)  # hinges at all but the last
    beta = np.full(len(alpha), 1 / scale)
    z = v[:, None] * beta - at[:-1]
    prediction = y[order][0] + (z + np.sqrt(z**2 + b)) / 2 @ alpha
    risks.append(np.mean(np.maximum(0, 1 - y * prediction) ** 2))
    norms.append(np.linalg.norm(alpha) * np.linalg.norm(beta))
bound = (1 - 2 / 2**2) * (1 - max(norms) * 5 / n) ** 2
print("largest risk over all B", max(risks), "‖α‖‖β‖ at most", max(norms), "printed bound", bound)
assert max(risks) < 1e-12 < 0.4 < bound
