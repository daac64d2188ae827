import numpy as np

from paritylab import HeadAttention, Parity, enumerated_risk

problem = Parity(12, (1, 5, 9))
starts = [HeadAttention.random(seed, problem, tau=1 / 12) for seed in range(20)]
risks = [enumerated_risk(start, problem).value for start in starts]
print(np.mean(risks), np.min(risks))
assert np.min(risks) > 1.1
