import numpy as np

from paritylab.theory.ks_hardness import mean_label

# k = n is k = Θ(n): the only target is the parity of all bits, and f = E_p p is that target.
n = 16
values = mean_label(n, n)  # by the number of minus signs
targets = (-1.0) ** np.arange(n + 1)
print("E(p - f)² of a fixed answer:", np.max((values - targets) ** 2))
assert np.all(values == targets)
# Beside it, in the proof: the printed oracle gives the mean when the gradient is FAR from it.
true, mean, epsilon = np.array([1.0, 0.0]), np.zeros(2), 0.5
printed = mean if np.linalg.norm(true - mean) > epsilon else true
assert np.linalg.norm(printed - true) > epsilon
