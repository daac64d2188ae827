import numpy as np

from paritylab import FullFormAttention, HeadAttention, Parity, enumerated_gradient

problem = Parity(8, (1, 4, 6))
heads = HeadAttention.random(0, problem, tau=1 / 8)
model = FullFormAttention.embed(heads, masked=False)
gradient = enumerated_gradient(model, problem).gradient
print(np.round(gradient[:, 0], 2))  # columns: a11, a12, a13, a14
assert np.all(np.abs(gradient[:, 0, 0]) > 0.01)
