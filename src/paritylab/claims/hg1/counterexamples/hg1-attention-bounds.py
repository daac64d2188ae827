import numpy as np

from paritylab.theory import hg1

n, c1 = 4096, 3
attention = np.exp(hg1.log_attention(n, c1 / n, 0.25))
print(attention[1] / (c1**2 / n), attention[n // 8] * n / c1)
assert attention[1] > 10 * c1**2 / n and attention[n // 8] * n / c1 < 1e-100
